import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { after, SECOND } from '../clock.ts';
import { type Claimed, claimNextVote, endLostAttempts } from './attempt-records.ts';
import { type Standing, standingAfter } from './breaker.ts';
import { claimVotes, giveBack } from './claim-ahead.ts';
import type { DrainEnd, Draining, DrainLimits } from './draining.ts';
import { createEndRecorder, type EndRecorder } from './end-recorder.ts';
import { releaseLeftVotes, releaseWaitingVotes } from './leave-line.ts';
import { type Listener, listenerState } from './listener.ts';
import { giveLeaseBack, renewLease, takeLease } from './listener-lease.ts';
import { openOrExplain, ourFault } from './our-fault.ts';
import { type Outcome, outcome } from './outcomes.ts';
import { Pace } from './pace.ts';
import { MOST_AT_ONCE } from './schedule.ts';
import type { OpenedListener } from './send-vote.ts';
import { countWaiting } from './waiting-votes.ts';

/** When too many tests are under way, an unreachable listener asks again after this long. */
const NEXT_TURN_MS = 2 * SECOND;

/** While attempts are under way and no vote is due, new ones are looked for so soon, then ever later. */
const FIRST_LOOK_MS = 50;
const LAST_LOOK_MS = SECOND;

/** How often the lease is renewed and the listener's settings are read again. */
const RENEW_MS = SECOND;

/**
 * So many votes may be claimed ahead, and so many under way or with an end that is not recorded yet: if this
 * process died, nobody could say whether they arrived.
 */
const MOST_AHEAD = 64;
const MOST_UNRECORDED = 64;

/** A vote whose attempt is recorded, and when its claim began on `performance.now()`: no later than its lease. */
type Ready = { claimed: Claimed; claimedAt: number };

/**
 * Sends a listener's due votes until none is due: in order of voting, at most four at once, one at a time while
 * the listener is unreachable. A lease in MongoDB makes sure that only one worker does this for a listener
 * (design rule 3). Never throws for anything a listener does.
 *
 * @throws the driver's error when MongoDB fails; whatever was under way is found again by its lease
 */
export async function drainListener(
  deps: Draining,
  serverId: ObjectId,
  limits: DrainLimits,
): Promise<DrainEnd> {
  const owner = `${deps.processId}:${new ObjectId().toHexString()}`;
  const asOf = deps.clock.now();
  const listener = await takeLease(deps, serverId, owner);
  if (listener === 'busy') return { kind: 'busy' };
  if (!listener) {
    await releaseLeftVotes(deps, serverId, asOf);
    return { kind: 'gone' };
  }
  const opened = await openOrExplain(deps, listener);
  const drain = new Drain(deps, owner, { listener, opened }, limits);
  try {
    return await drain.run();
  } finally {
    await drain.close();
  }
}

/** One worker's hold on one listener: its lease, its attempts under way and how it stands. */
class Drain {
  readonly #deps: Draining;
  readonly #owner: string;
  readonly #limits: DrainLimits;
  readonly #record: EndRecorder;
  readonly #pace = new Pace();
  /** Attempts begun, until their end is recorded. */
  readonly #underWay = new Set<Promise<void>>();
  /** Attempts that hold one of the listener's four places. */
  #places = 0;
  /** Claimed ahead, in the order of the line. */
  #ready: Ready[] = [];
  /** Resolves when a place becomes free or an end is recorded. */
  #change = Promise.withResolvers<void>();
  #listener: Listener;
  #opened: OpenedListener;
  #renewedAt = performance.now();
  #lastDeliveredAt: Date | undefined;
  /** Changes of the listener's standing are written one after the other. */
  #written: Promise<unknown> = Promise.resolve();
  /** The first fault of ours in an attempt; it ends the drain. */
  #fault: unknown = null;

  constructor(
    deps: Draining,
    owner: string,
    { listener, opened }: { listener: Listener; opened: OpenedListener },
    limits: DrainLimits,
  ) {
    this.#deps = deps;
    this.#owner = owner;
    this.#limits = limits;
    this.#listener = listener;
    this.#opened = opened;
    this.#record = createEndRecorder(deps, limits.waitNoLonger);
  }

  async run(): Promise<DrainEnd> {
    const { servers, log } = this.#deps;
    const { serverId } = this.#listener;
    for (const claimed of await endLostAttempts(this.#deps, serverId)) {
      log.warn({
        event: 'delivery.lost',
        serverId: serverId.toHexString(),
        voteId: claimed.vote._id.toString(),
      });
      await this.#noteEnd(claimed, outcome('lease-ran-out', 'none'), this.#deps.config.LEASE_MS);
    }
    const server = await servers.findOne({ _id: serverId }, { projection: { name: 1, removedAt: 1 } });
    if (!server || server.removedAt) {
      await releaseWaitingVotes(this.#deps, serverId, 'server-removed');
      return { kind: 'gone' };
    }
    const end = await this.#sendDueVotes();
    await this.#giveBackReady();
    await Promise.all(this.#underWay);
    if (this.#fault) throw this.#fault;
    return typeof end === 'object' ? end : this.#unreachable(server.name, end);
  }

  /** Gives the lease back once nothing is under way. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
    await this.#giveBackReady();
    await giveLeaseBack(this.#deps, this.#listener.serverId, this.#owner, this.#lastDeliveredAt);
  }

  /** Why it stopped; for an unreachable listener, why it is not tested now. */
  async #sendDueVotes(): Promise<DrainEnd | 'tested-later' | 'too-many-tests'> {
    const { clock } = this.#deps;
    const began = performance.now();
    let look = FIRST_LOOK_MS;
    for (;;) {
      if (this.#fault) throw this.#fault;
      if (this.#limits.stop.aborted) return { kind: 'stopped' };
      if (performance.now() - began > this.#limits.budgetMs) return { kind: 'more' };
      if (!(await this.#renew())) return { kind: 'busy' };

      const state = listenerState(this.#listener);
      if (state === 'paused') return { kind: 'paused' };
      if (!this.#mayStart()) await this.#giveBackReady();
      const test = state === 'unreachable';
      const most = test ? this.#mostTests() : this.#mostToClaim();
      if (most === 0) {
        await this.#change.promise;
        continue;
      }
      const { nextTestAt } = this.#listener.breaker;
      if (test && nextTestAt && clock.now() < nextTestAt) return 'tested-later';
      const { tests } = this.#deps;
      if (test && tests && tests.underWay >= tests.most) return 'too-many-tests';

      if (await this.#claim(test, most)) look = FIRST_LOOK_MS;
      else if (this.#underWay.size > 0) {
        await this.#aChangeWithin(look);
        look = Math.min(2 * look, LAST_LOOK_MS);
      } else return { kind: 'idle' };
    }
  }

  /** One at a time, and only once every earlier attempt has ended. */
  #mostTests(): number {
    return this.#underWay.size === 0 ? 1 : 0;
  }

  /**
   * How many votes to claim now: one for a free place, and where the listener is fast, those that it will take
   * during the claim.
   */
  #mostToClaim(): number {
    const ahead = this.#pace.ahead();
    const free = MOST_AT_ONCE - this.#places;
    const wanted = ahead > 0 ? ahead + free : Math.min(1, free);
    // Not a claim for each vote: when half of what was claimed ahead has gone.
    if (this.#ready.length > 0 && this.#ready.length > wanted / 2) return 0;
    return Math.max(0, Math.min(wanted, MOST_AHEAD) - this.#ready.length);
  }

  /** Returns whether a vote was due. */
  async #claim(test: boolean, most: number): Promise<boolean> {
    // Before the claim: the lease it takes begins no earlier than this.
    const claimedAt = performance.now();
    const one = test ? await claimNextVote(this.#deps, this.#listener, { test }) : null;
    const claimed = test ? (one ? [one] : []) : await claimVotes(this.#deps, this.#listener, most);
    for (const each of claimed) this.#ready.push({ claimed: each, claimedAt });
    this.#startReady();
    return claimed.length > 0;
  }

  /** Whether what was claimed ahead may still be sent: the listener stands as it stood, and nothing stops us. */
  #mayStart(): boolean {
    const [next] = this.#ready;
    if (!next || this.#fault || this.#limits.stop.aborted) return false;
    const { attempt } = next.claimed;
    const standsSo = listenerState(this.#listener) === (attempt.test ? 'unreachable' : 'active');
    return standsSo && attempt.revision === this.#listener.revision;
  }

  #startReady(): void {
    while (this.#places < MOST_AT_ONCE && this.#underWay.size < MOST_UNRECORDED && this.#mayStart()) {
      const next = this.#ready.shift();
      if (next) this.#start(next);
    }
  }

  async #giveBackReady(): Promise<void> {
    const left = this.#ready.map(({ claimed }) => claimed);
    this.#ready = [];
    await giveBack(this.#deps, left);
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }

  /** A change, awaited no longer than `ms`: votes that are cast meanwhile must not wait for it. */
  async #aChangeWithin(ms: number): Promise<void> {
    const ended = new AbortController();
    const looking = pause(ms, undefined, { signal: ended.signal }).catch(() => undefined);
    await Promise.race([this.#change.promise, looking]);
    ended.abort();
  }

  /** Renews the lease and reads the settings again, now and then; false when the lease is lost. */
  async #renew(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#renewedAt < RENEW_MS) return true;
    const renewed = await renewLease(this.#deps, this.#listener.serverId, this.#owner);
    if (!renewed?._id.equals(this.#listener._id)) return false;
    this.#renewedAt = now;
    this.#follow(renewed);
    return true;
  }

  /** Takes over changed settings. While they stand, nobody but the holder of the lease changes the standing. */
  #follow(listener: Listener): void {
    if (listener.revision === this.#listener.revision) return;
    this.#opened = this.#deps.open(listener);
    this.#listener = listener;
  }

  #start({ claimed, claimedAt }: Ready): void {
    const { tests } = this.#deps;
    const tested = claimed.attempt.test ? 1 : 0;
    if (tests) tests.underWay += tested;
    this.#places += 1;
    const attempt = this.#attempt(claimed, claimedAt)
      .catch((error: unknown) => {
        this.#fault ??= error;
      })
      .finally(() => {
        if (tests) tests.underWay -= tested;
        this.#underWay.delete(attempt);
        this.#startReady();
        this.#changed();
      });
    this.#underWay.add(attempt);
  }

  async #attempt(claimed: Claimed, claimedAt: number): Promise<void> {
    const began = performance.now();
    const end = await this.#send(claimed, claimedAt);
    const ended = performance.now();
    const durationMs = ended - claimedAt;
    const recorded = this.#record(claimed, end, durationMs);
    // The next vote need not wait for the record of a good end; every other may change how the listener stands.
    const good = end.class === 'delivered' && !claimed.attempt.test;
    if (good) {
      this.#pace.note(ended - began);
      this.#freePlace();
    }
    try {
      if (await recorded) await this.#noteEnd(claimed, end, durationMs);
    } finally {
      if (!good) this.#freePlace();
    }
  }

  #freePlace(): void {
    this.#places -= 1;
    this.#startReady();
    this.#changed();
  }

  async #send(claimed: Claimed, claimedAt: number): Promise<Outcome> {
    const { config, log, send } = this.#deps;
    try {
      return await send(this.#opened, claimed.vote, {
        signal: this.#limits.stop,
        waitSignal: this.#limits.waitNoLonger,
        // A process that was stopped and goes on must not send what another has taken over.
        mayWrite: (answerMs) => performance.now() - claimedAt + answerMs < config.LEASE_MS,
      });
    } catch (error) {
      log.error({ event: 'delivery.our_fault', voteId: claimed.vote._id.toString(), error: String(error) });
      return ourFault(error);
    }
  }

  /** Logs and counts an end and lets it change how the listener stands, if its settings are still the same. */
  async #noteEnd(claimed: Claimed, end: Outcome, durationMs: number): Promise<void> {
    const { listeners, log, clock, config, onEnd } = this.#deps;
    const { vote, attempt } = claimed;
    onEnd?.(claimed, end, durationMs);
    if (end.class === 'delivered') this.#lastDeliveredAt = clock.now();
    log.info({
      event: 'delivery.attempt',
      serverId: vote.serverId.toHexString(),
      voteId: vote._id.toString(),
      code: end.code,
      class: end.class,
      reached: end.reached,
      durationMs: Math.round(durationMs),
      ...(end.words ? { words: end.words } : {}),
    });
    if (attempt.revision !== this.#listener.revision) return;
    const before: Standing = {
      breaker: this.#listener.breaker,
      pause: this.#listener.pause ?? null,
      voteFaults: this.#listener.voteFaults,
    };
    const standing = standingAfter(
      before,
      { ...end, test: attempt.test },
      clock.now(),
      config.BREAKER_SCHEDULE,
    );
    if (standing === before) return;
    // In memory at once: the other attempts under way must not be judged by the older standing.
    this.#listener = { ...this.#listener, ...standing };
    if (standing.pause && !before.pause) {
      log.warn({
        event: 'listener.paused',
        serverId: vote.serverId.toHexString(),
        code: standing.pause.code,
      });
    }
    // Not a listener that was removed and set again, and not one that another worker has taken over.
    const ours = { _id: this.#listener._id, serverId: vote.serverId, 'lease.owner': this.#owner };
    this.#written = this.#written.then(() =>
      listeners.updateOne({ ...ours, revision: attempt.revision }, { $set: standing }),
    );
    await this.#written;
  }

  async #unreachable(server: string, why: 'tested-later' | 'too-many-tests'): Promise<DrainEnd> {
    const { breaker, serverId } = this.#listener;
    const now = this.#deps.clock.now();
    return {
      kind: 'unreachable',
      server,
      waiting: await countWaiting(this.#deps.votes, serverId),
      nextTestAt:
        why === 'too-many-tests' ? after(now, NEXT_TURN_MS) : (breaker.nextTestAt ?? after(now, SECOND)),
      since: breaker.openSince ?? now,
      code: breaker.code ?? 'unreachable',
    };
  }
}
