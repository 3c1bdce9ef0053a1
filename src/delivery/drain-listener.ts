import { ObjectId } from 'mongodb';
import PQueue from 'p-queue';
import { after, SECOND } from '../clock.ts';
import { within } from '../deadline.ts';
import { serversTogether } from '../servers/servers-together.ts';
import { attemptDelivery, type Ready } from './attempt-delivery.ts';
import { claimVotes, releaseVotes } from './claim-votes.ts';
import { queueOf } from './delivery-queues.ts';
import type { DrainEnd, Draining, DrainOptions } from './drain.ts';
import { LeasedListener, RENEW_MS } from './leased-listener.ts';
import { releaseLeftVotes, releaseWaitingVotes } from './leave-line.ts';
import { type Listener, listenerState } from './listener.ts';
import { takeLease } from './listener-lease.ts';
import { logEnd } from './log-ends.ts';
import { endLostAttempts, hasLostAttempts } from './lost-attempts.ts';
import { openOrExplain } from './our-fault.ts';
import { type Ended, recordWithRetries } from './record-outcomes.ts';
import { MOST_AT_ONCE } from './schedule.ts';
import { countWaiting, hasBacklog } from './waiting-votes.ts';

/** While attempts are under way and no vote is due, new ones are looked for so soon, then ever later. */
const FIRST_LOOK_MS = 50;
const LAST_LOOK_MS = SECOND;

/**
 * A backlog's claim takes so many votes at the most, and each twice as many as the one before while those are sent
 * within a second. If this worker died, nobody could say which of them arrived.
 */
const LARGEST_CLAIM = 64;

/** What a drain needs to know of its server. */
const serversOfDrains = serversTogether({ name: 1, ownerId: 1, removedAt: 1 });

/**
 * Sends a listener's due votes until none is due: in queue order, at most four at once, one at a time while the breaker
 * is open. A lease in MongoDB makes sure that only one worker does this for a listener (design rule 3). Never throws
 * for anything a listener does.
 *
 * @throws the driver's error when MongoDB fails; whatever was under way is found again by its lease
 */
export async function drainListener(
  given: Draining,
  serverId: ObjectId,
  options: DrainOptions,
): Promise<DrainEnd> {
  const endsAt = performance.now() + options.budgetMs;
  for (;;) {
    const { end, again } = await drainOnce(given, serverId, { ...options, endsAt });
    if (!again || options.stop.aborted) return end;
    if (performance.now() > endsAt) return { kind: 'more' };
  }
}

type Limits = DrainOptions & { endsAt: number };

/** Drains under one lease. `again`: a wake-up came or the settings changed after it had looked for the last time. */
async function drainOnce(
  given: Draining,
  serverId: ObjectId,
  options: Limits,
): Promise<{ end: DrainEnd; again: boolean }> {
  const owner = `${given.processId}:${new ObjectId().toHexString()}`;
  const asOf = given.clock.now();
  // Before the lease is taken: this process may be stopped before it has the answer.
  const since = performance.now();
  const listener = await takeLease(given, serverId, owner);
  if (listener === 'busy') return { end: { kind: 'busy' }, again: false };
  if (!listener) {
    await releaseLeftVotes(given, serverId, asOf);
    return { end: { kind: 'gone' }, again: false };
  }
  const named = { serverId: serverId.toHexString(), listenerId: listener._id.toHexString() };
  const deps = { ...given, log: given.log.child(named) };
  const opened = await openOrExplain(deps, listener);
  const leased = new LeasedListener(deps, { owner, since }, listener, opened);
  const end = await drainLeased(deps, leased, options);
  const { called, changed } = await leased.release();
  return { end, again: changed || (called && end.kind === 'idle') };
}

async function drainLeased(deps: Draining, leased: LeasedListener, options: Limits): Promise<DrainEnd> {
  const { lanes, servers, votes, log } = deps;
  const { serverId } = leased.now;
  try {
    const [server, hasLost] = await Promise.all([
      lanes.ask(serversOfDrains, servers, serverId),
      lanes.ask(hasLostAttempts, votes, serverId),
    ]);
    for (const ended of hasLost ? await endLostAttempts(deps, serverId) : []) {
      log.warn({ event: 'delivery.lost', voteId: ended.claimed.vote._id.toString() });
      await noteOutcome(deps, leased, ended);
    }
    if (!server || server.removedAt) {
      await releaseWaitingVotes(deps, serverId, 'server-removed');
      return { kind: 'gone' };
    }
    deps.onBegin?.(server.name);
    const drain = new Drain(deps, leased, options, server.ownerId?.toHexString() ?? null);
    const end = await drain.run().finally(() => drain.close());
    return end === 'tested-later' ? await untilNextTest(deps, server.name, leased.now) : end;
  } catch (error) {
    await leased.release().catch(() => undefined);
    throw error;
  }
}

async function untilNextTest(
  { votes, clock }: Draining,
  server: string,
  { serverId, breaker }: Listener,
): Promise<DrainEnd> {
  const now = clock.now();
  return {
    kind: 'unreachable',
    server,
    waiting: await countWaiting(votes, serverId),
    nextTestAt: breaker.nextTestAt ?? after(now, SECOND),
    since: breaker.openSince ?? now,
    code: breaker.code ?? 'unreachable',
  };
}

/** Logs and counts an outcome and lets it change the listener's state. */
async function noteOutcome({ log, onEnd }: Draining, leased: LeasedListener, ended: Ended): Promise<void> {
  onEnd?.(ended);
  logEnd(log, ended.claimed, ended.outcome, ended.durationMs);
  await leased.noteOutcome(ended);
}

/** Claims and sends the due votes of a leased listener. */
class Drain {
  readonly #deps: Draining;
  readonly #leased: LeasedListener;
  readonly #options: Limits;
  readonly #accountId: string | null;
  readonly #sending = new PQueue({ concurrency: MOST_AT_ONCE });
  /** Claimed votes, until their outcome is recorded or they are to be released. */
  readonly #open = new Set<Promise<void>>();
  /** Claimed and not sent. */
  #unsent: Ready[] = [];
  /** Resolves when a claimed vote leaves `#open`. */
  #change = Promise.withResolvers<void>();
  /** Looked at once in a drain, when it has claimed some votes. */
  #mayHaveBacklog: boolean | undefined;
  #claimedVotes = 0;
  #claimSize = MOST_AT_ONCE;
  #claimedAt = Number.NEGATIVE_INFINITY;
  /** The first fault of ours in an attempt; it ends the drain. */
  #fault: unknown = null;

  constructor(deps: Draining, leased: LeasedListener, options: Limits, accountId: string | null) {
    this.#deps = deps;
    this.#leased = leased;
    this.#options = options;
    this.#accountId = accountId;
    if (options.queue === 'test-listeners') this.#mayHaveBacklog = true;
  }

  /** Why it stopped; attempts may be under way still. */
  async run(): Promise<DrainEnd | 'tested-later'> {
    for (let lookMs = FIRST_LOOK_MS; ; ) {
      if (this.#fault) throw this.#fault;
      if (this.#options.stop.aborted) return { kind: 'stopped' };
      if (performance.now() > this.#options.endsAt) return { kind: 'more' };
      if (!(await this.#leased.renew())) return { kind: 'busy' };
      await this.#releaseUnsent();
      const held = await this.#heldBack();
      if (held) return held;
      const most = this.#mostToClaim();
      if (most === 0) {
        await within(RENEW_MS, this.#change.promise).catch(() => undefined);
        continue;
      }
      const wasOpen = this.#open.size > 0;
      const claimed = await this.#claim(most);
      if (claimed > 0) lookMs = FIRST_LOOK_MS;
      if (claimed < most && this.#open.size > 0) {
        // Votes that are cast meanwhile must not wait for the change.
        await within(lookMs, this.#change.promise).catch(() => undefined);
        lookMs = Math.min(2 * lookMs, LAST_LOOK_MS);
      } else if (claimed === 0 && !wasOpen) {
        return { kind: 'idle' };
      }
    }
  }

  /** Waits for the attempts under way, renewing the lease, and releases what was not sent. */
  async close(): Promise<void> {
    while (this.#open.size > 0) {
      await within(RENEW_MS, Promise.all(this.#open)).catch(() => undefined);
      // Where MongoDB is away, the next round tries again; the attempts retry the records of their outcomes.
      await this.#leased.renew().catch(() => false);
    }
    await this.#releaseUnsent();
    if (this.#fault) throw this.#fault;
  }

  /** Why no vote may be claimed now, if that is so. */
  async #heldBack(): Promise<DrainEnd | 'tested-later' | null> {
    const { clock, votes } = this.#deps;
    const { queue } = this.#options;
    const listener = this.#leased.now;
    const { limited, breaker, serverId } = listener;
    if (listener.pause) return { kind: 'paused' };
    if (limited && clock.now() < limited.until) return { kind: 'limited', until: limited.until };
    const own = queueOf(listener);
    if (own === 'test-listeners' && queue !== own) return { kind: 'moved', to: own };
    if (breaker.openSince && breaker.nextTestAt && clock.now() < breaker.nextTestAt) return 'tested-later';
    if (own === 'test-listeners' || queue === 'drain-backlogs') return null;
    if (this.#mayHaveBacklog && (await hasBacklog(votes, serverId)))
      return { kind: 'moved', to: 'drain-backlogs' };
    this.#mayHaveBacklog = false;
    return queue === own ? null : { kind: 'moved', to: own };
  }

  /** How many votes to claim now: one while one more may be sent; of a backlog also those that follow. */
  #mostToClaim(): number {
    const { queue } = this.#options;
    const open = this.#open.size;
    if (queue === 'drain-backlogs') {
      const unsent = this.#sending.size + this.#sending.pending;
      return unsent <= this.#claimSize / 2 && open <= LARGEST_CLAIM ? this.#nextClaimSize() : 0;
    }
    const isTest = queue === 'test-listeners' || listenerState(this.#leased.now) === 'unverified';
    return open < (isTest ? 1 : MOST_AT_ONCE) ? 1 : 0;
  }

  #nextClaimSize(): number {
    const now = performance.now();
    const isFast = now - this.#claimedAt < SECOND;
    this.#claimedAt = now;
    this.#claimSize = isFast
      ? Math.min(2 * this.#claimSize, LARGEST_CLAIM)
      : Math.max(MOST_AT_ONCE, Math.floor(this.#claimSize / 2));
    return this.#claimSize;
  }

  /** Returns how many votes were due. */
  async #claim(most: number): Promise<number> {
    const listener = this.#leased.now;
    const reason = { test: listenerState(listener) === 'unreachable', relayedAt: this.#options.relayedAt };
    const atOnce = Math.max(0, MOST_AT_ONCE - this.#open.size);
    // Before the claim: the leases of the attempts begin no earlier than this.
    const claimedAt = performance.now();
    const claimed = await claimVotes(this.#deps, listener, reason, { most, atOnce });
    for (const one of claimed) this.#start({ claimed: one, claimedAt });
    this.#claimedVotes += claimed.length;
    if (this.#claimedVotes >= MOST_AT_ONCE) this.#mayHaveBacklog ??= true;
    return claimed.length;
  }

  #start(ready: Ready): void {
    const open = this.#sending
      .add(() => this.#attempt(ready))
      // Of an acknowledged vote the record: the next vote need not wait for it.
      .then((recording) => recording?.recorded)
      .catch((error: unknown) => {
        this.#fault ??= error;
      })
      .finally(() => {
        this.#open.delete(open);
        this.#change.resolve();
        this.#change = Promise.withResolvers<void>();
      });
    this.#open.add(open);
  }

  async #attempt(ready: Ready): Promise<{ recorded: Promise<void> } | undefined> {
    if (!this.#maySend(ready)) {
      this.#unsent.push(ready);
      return undefined;
    }
    const options = { ...this.#options, accountId: this.#accountId };
    const { outcome, durationMs, limited, proof } = await attemptDelivery(
      this.#deps,
      this.#leased,
      ready,
      options,
    );
    const { claimed } = ready;
    if (outcome.code === 'outgoing-limited' && limited) {
      this.#unsent.push(ready);
      await this.#leased.limit(limited);
      this.#deps.log.info({ event: 'delivery.limited', by: limited.by, until: limited.until });
      return undefined;
    }
    // In memory at once: the next vote goes as to a listener that has proven itself.
    const isProven = proof !== null && this.#leased.prove(claimed, proof);
    const recorded = this.#record({ claimed, outcome, durationMs }, isProven);
    if (outcome.class === 'delivered' && !claimed.attempt.test) return { recorded };
    // Every other outcome may change the listener's state.
    await recorded;
    return undefined;
  }

  /** Records an outcome behind all earlier ones: their order decides about the listener's state. */
  async #record(ended: Ended, isProven: boolean): Promise<void> {
    const { waitNoLonger } = this.#options;
    if (await recordWithRetries(this.#deps, ended, waitNoLonger))
      await noteOutcome(this.#deps, this.#leased, ended);
    if (isProven) await this.#leased.storeProofs();
  }

  /** Whether a claimed vote may still be sent: the listener is as it was, and the worker does not stop. */
  #maySend({ claimed: { attempt } }: Ready): boolean {
    if (this.#fault || this.#options.stop.aborted) return false;
    const { limited, revision } = this.#leased.now;
    if (limited && this.#deps.clock.now() < limited.until) return false;
    const state = listenerState(this.#leased.now);
    const isUnchanged = attempt.test ? state === 'unreachable' : state === 'active' || state === 'unverified';
    return isUnchanged && attempt.revision === revision;
  }

  async #releaseUnsent(): Promise<void> {
    const unsent = this.#unsent.map(({ claimed }) => claimed);
    this.#unsent = [];
    await releaseVotes(this.#deps, this.#leased.now, unsent);
  }
}
