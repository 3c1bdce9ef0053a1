import { ObjectId } from 'mongodb';
import { after, SECOND } from '../clock.ts';
import { within } from '../deadline.ts';
import type { Limited } from '../limits/outgoing-limit.ts';
import { answerStepOf, asAllowedNow, type Claimed } from './after-end.ts';
import { beginDrain } from './begin-drain.ts';
import { claimVotes, giveBack } from './claim-ahead.ts';
import { Destination, shownToOwner, withProof } from './destination.ts';
import type { DrainEnd, Draining, DrainLimits } from './draining.ts';
import { HeldListener, RENEW_MS } from './held-listener.ts';
import { HeldTurn } from './held-turn.ts';
import { releaseLeftVotes, releaseWaitingVotes } from './leave-line.ts';
import { listenerState } from './listener.ts';
import { takeLease } from './listener-lease.ts';
import { logEnd } from './log-ends.ts';
import { openOrExplain, ourFault } from './our-fault.ts';
import { type Outcome, outcome } from './outcomes.ts';
import { Pace } from './pace.ts';
import { recordPatiently } from './record-patiently.ts';
import { attemptLeaseMs, MOST_AT_ONCE } from './schedule.ts';
import { giveUpSentVotes } from './unconfirmed-votes.ts';
import { countWaiting } from './waiting-votes.ts';
import { Yielding } from './yielding.ts';

/** A listener's only vote under way has this long to end before the next one is looked for. */
const ALONE_MS = 10;

/** While attempts are under way and no vote is due, new ones are looked for so soon, then ever later. */
const FIRST_LOOK_MS = 50;
const LAST_LOOK_MS = SECOND;

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
  given: Draining,
  serverId: ObjectId,
  limits: DrainLimits,
): Promise<DrainEnd> {
  const owner = `${given.processId}:${new ObjectId().toHexString()}`;
  const asOf = given.clock.now();
  // Before the lease is taken: this process may be stopped before it hears that it was.
  const since = performance.now();
  const begin = () => takeLease(given, serverId, owner);
  const { unproven } = given;
  const listener = await (limits.turn && unproven ? unproven.aside(begin, limits.turn) : begin());
  if (listener === 'busy') return { kind: 'busy' };
  if (!listener) {
    await releaseLeftVotes(given, serverId, asOf);
    return { kind: 'gone' };
  }
  const named = { serverId: serverId.toHexString(), listenerId: listener._id.toHexString() };
  const deps = { ...given, log: given.log.child(named) };
  const opened = await openOrExplain(deps, listener);
  const drain = new Drain(deps, new HeldListener(deps, { owner, since }, listener, opened), limits);
  try {
    return await drain.run();
  } finally {
    await drain.close();
  }
}

/** One worker's hold on one listener: its lease, its attempts under way and how it stands. */
class Drain {
  readonly #deps: Draining;
  readonly #held: HeldListener;
  readonly #limits: DrainLimits;
  readonly #turn: HeldTurn;
  readonly #pace = new Pace();
  readonly #yielding: Yielding;
  /** What was claimed last had waited in the line for long. */
  #isBehind = false;
  /** Ends wait for it, to be recorded together. */
  #gathering: Promise<void> | undefined;
  /** Attempts begun, until their end is recorded. */
  readonly #underWay = new Set<Promise<void>>();
  /** Attempts that hold one of the listener's four places. */
  #places = 0;
  /** Claimed ahead, in the order of the line. */
  #ready: Ready[] = [];
  /** Resolves when a place becomes free or an end is recorded. */
  #change = Promise.withResolvers<void>();
  /** The owner of the listener's server; null where it is nobody's. */
  #accountId: string | null = null;
  /** The first fault of ours in an attempt; it ends the drain. */
  #fault: unknown = null;

  constructor(deps: Draining, held: HeldListener, limits: DrainLimits) {
    this.#deps = deps;
    this.#held = held;
    this.#limits = limits;
    this.#turn = new HeldTurn(deps.unproven, () => held.now);
    this.#yielding = deps.yielding ?? new Yielding();
  }

  async run(): Promise<DrainEnd> {
    const { serverId } = this.#held.now;
    const { server, accountId, lost } = await beginDrain(this.#deps, serverId);
    this.#accountId = accountId;
    for (const claimed of lost)
      await this.#noteEnd(claimed, outcome('lease-ran-out', 'none'), this.#deps.config.LEASE_MS);
    if (server === null) {
      await releaseWaitingVotes(this.#deps, serverId, 'server-removed');
      return { kind: 'gone' };
    }
    await giveUpSentVotes(this.#deps, this.#held.now);
    this.#deps.onBegin?.(server);
    const end = await this.#sendDueVotes();
    await this.#giveBackReady();
    await this.#untilNoneUnderWay();
    if (this.#fault) throw this.#fault;
    return typeof end === 'object' ? end : this.#unreachable(server);
  }

  /** Gives the lease back once nothing is under way. */
  async close(): Promise<void> {
    await this.#untilNoneUnderWay();
    this.#turn.end();
    await this.#giveBackReady();
    await this.#held.giveBack();
  }

  /** Waits for the attempts under way. The lease is renewed meanwhile: an answer may be waited for as long as it lasts. */
  async #untilNoneUnderWay(): Promise<void> {
    while (this.#underWay.size > 0) {
      await within(RENEW_MS, Promise.all(this.#underWay)).catch(() => undefined);
      // Where MongoDB is away, the next look tries again; the attempts record their ends patiently.
      await this.#held.renew().catch(() => false);
    }
  }

  /** Why it stopped. */
  async #sendDueVotes(): Promise<DrainEnd | 'tested-later'> {
    const { clock } = this.#deps;
    const began = performance.now();
    let look = FIRST_LOOK_MS;
    for (;;) {
      if (this.#fault) throw this.#fault;
      if (this.#limits.stop.aborted) return { kind: 'stopped' };
      if (performance.now() - began > this.#limits.budgetMs) return { kind: 'more' };
      if (!(await this.#held.renew())) return { kind: 'busy' };

      const state = listenerState(this.#held.now);
      if (state === 'paused') return { kind: 'paused' };
      if (!this.#mayStart()) await this.#giveBackReady();
      const { limited } = this.#held.now;
      if (limited && clock.now() < limited.until) {
        if (this.#underWay.size === 0) return { kind: 'put-off', until: limited.until };
        // What is under way may prove that it need not be limited.
        await within(RENEW_MS, this.#change.promise).catch(() => undefined);
        continue;
      }
      const test = state === 'unreachable';
      const most = test || state === 'unverified' ? this.#mostTests() : this.#mostToClaim();
      if (most === 0) {
        await within(RENEW_MS, this.#change.promise).catch(() => undefined);
        continue;
      }
      const { nextTestAt } = this.#held.now.breaker;
      if (test && nextTestAt && clock.now() < nextTestAt) return 'tested-later';
      if (!this.#turn.mayBegin()) return this.#putOff();

      const yields = this.#yields();
      const restMs = yields ? this.#yielding.take() : 0;
      if (restMs > 0) {
        await within(restMs, this.#change.promise).catch(() => undefined);
        continue;
      }

      const claimed = this.#claim(test, most);
      if (await (yields ? this.#yielding.timed(claimed) : claimed)) {
        look = FIRST_LOOK_MS;
        // Mostly a vote comes alone: looking before it has ended would find nothing, at the price of a claim.
        if (this.#underWay.size === 1)
          await within(ALONE_MS, Promise.all(this.#underWay)).catch(() => undefined);
      } else if (this.#underWay.size > 0) {
        // Votes that are cast meanwhile must not wait for the change.
        await within(look, this.#change.promise).catch(() => undefined);
        look = Math.min(2 * look, LAST_LOOK_MS);
      } else if (!this.#limits.stop.aborted && state === listenerState(this.#held.now)) {
        // Else an attempt ended during the claim, and changed how the listener stands.
        return { kind: 'idle' };
      }
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
    const able = ahead > 0 ? ahead + free : Math.min(1, free);
    const wanted = this.#yields() ? this.#yielding.most(able) : able;
    // Not a claim for each vote: when half of what was claimed ahead has gone.
    if (this.#ready.length > 0 && this.#ready.length > wanted / 2) return 0;
    return Math.max(0, Math.min(wanted, MOST_AHEAD) - this.#ready.length);
  }

  /** What it sends has waited for long and is claimed ahead, while others' votes are fresh. */
  #yields(): boolean {
    // One that failed lately makes way already, by its turn.
    return this.#isBehind && this.#pace.ahead() > 0 && this.#turn.isFirst && this.#yielding.isWanted;
  }

  /** Returns whether a vote was due. */
  async #claim(test: boolean, most: number): Promise<boolean> {
    const reason = { test, relayedAt: this.#limits.relayedAt };
    const size = { most, atOnce: Math.max(0, MOST_AT_ONCE - this.#places - this.#ready.length) };
    const { claimed, claimedAt } = await this.#turn.inTurn(async () => {
      // Before the claim: the lease it takes begins no earlier than this. Not before the turn: an attempt's time would
      // have the wait for it in it.
      const claimedAt = performance.now();
      return { claimedAt, claimed: await claimVotes(this.#deps, this.#held.now, reason, size) };
    });
    const votes = claimed.map(({ vote }) => vote);
    this.#isBehind = this.#yielding.note(votes, this.#deps.clock.now());
    for (const each of claimed) this.#ready.push({ claimed: each, claimedAt });
    this.#startReady();
    return claimed.length > 0;
  }

  /** Whether what was claimed ahead may still be sent: the listener stands as it stood, and nothing stops us. */
  #mayStart(): boolean {
    const [next] = this.#ready;
    if (!next || this.#fault || this.#limits.stop.aborted) return false;
    const { attempt } = next.claimed;
    const { limited, revision } = this.#held.now;
    if (limited && this.#deps.clock.now() < limited.until) return false;
    const state = listenerState(this.#held.now);
    const standsSo = attempt.test ? state === 'unreachable' : state === 'active' || state === 'unverified';
    return standsSo && attempt.revision === revision;
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
    await giveBack(this.#deps, this.#held.now, left);
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }

  #start({ claimed, claimedAt }: Ready): void {
    this.#places += 1;
    const attempt = this.#attempt(claimed, claimedAt)
      .catch((error: unknown) => {
        this.#fault ??= error;
      })
      .finally(() => {
        this.#underWay.delete(attempt);
        this.#startReady();
        this.#changed();
      });
    this.#underWay.add(attempt);
  }

  async #attempt(begun: Claimed, claimedAt: number): Promise<void> {
    const began = performance.now();
    const listener = this.#held.now;
    const destination = new Destination(this.#deps, listener, { accountId: this.#accountId });
    const end = await this.#send(begun, claimedAt, destination);
    const claimed = asAllowedNow(begun, this.#held.now);
    const { limited, proof } = destination;
    if (end.code === 'outgoing-limited' && limited) {
      const isStillUnproven = () => this.#held.now.proven === listener.proven;
      return this.#putBack(claimed, limited, isStillUnproven);
    }
    const ended = performance.now();
    const durationMs = ended - claimedAt;
    // The next vote need not wait for the record of a good end; every other may change how the listener stands.
    const good = end.class === 'delivered' && !claimed.attempt.test;
    const recorded = this.#record(claimed, end, durationMs);
    // In memory at once: the next vote goes as to a listener that has proven itself.
    const isProven = proof !== null && this.#held.prove(claimed, proof);
    if (good) {
      this.#pace.note(ended - began);
      this.#freePlace();
    }
    try {
      if (await recorded) await this.#noteEnd(claimed, end, durationMs);
      // Behind the end: a MongoDB that stands still is waited for once.
      if (isProven) await this.#held.storeProofs();
    } finally {
      if (!good) this.#freePlace();
    }
  }

  /** An allowance is used up: the vote waits in its place as if it had never been claimed. */
  async #putBack(claimed: Claimed, limited: Limited, isStillUnproven: () => boolean): Promise<void> {
    try {
      await giveBack(this.#deps, this.#held.now, [claimed]);
      // Else another attempt has proven something meanwhile, and this vote goes at once.
      if (!isStillUnproven()) return;
      await this.#held.limit(limited);
      this.#deps.log.info({ event: 'delivery.limited', by: limited.by, until: limited.until });
    } finally {
      this.#freePlace();
    }
  }

  /** Records an end behind all earlier ones: the order of good and bad ones decides how the listener stands. */
  async #record(claimed: Claimed, end: Outcome, durationMs: number): Promise<boolean> {
    if (this.#yields()) this.#gathering ??= this.#gather();
    if (this.#gathering) await this.#gathering;
    return recordPatiently(this.#deps, claimed, end, durationMs, this.#limits.waitNoLonger);
  }

  async #gather(): Promise<void> {
    await this.#yielding.gathered();
    this.#gathering = undefined;
  }

  #freePlace(): void {
    this.#places -= 1;
    this.#startReady();
    this.#changed();
  }

  async #send(claimed: Claimed, claimedAt: number, destination: Destination): Promise<Outcome> {
    const { config, log, send } = this.#deps;
    const listener = this.#held.now;
    const answerStep = answerStepOf(claimed);
    const leaseMs = attemptLeaseMs(config, answerStep);
    try {
      const end = await send(this.#held.opened, claimed.vote, {
        destination,
        signal: this.#limits.stop,
        waitSignal: this.#limits.waitNoLonger,
        answerStep,
        // A process that was stopped and goes on must not send what another has taken over.
        mayWrite: (answerMs) => performance.now() - claimedAt + answerMs < leaseMs,
      });
      const { proof } = destination;
      const { protocol, proven } = listener;
      const reached = { protocol, proven: proof ? withProof(proven, proof) : proven };
      return shownToOwner(reached, end);
    } catch (error) {
      log.error({ event: 'delivery.our_fault', voteId: claimed.vote._id.toString(), error: String(error) });
      return ourFault(error);
    }
  }

  /** Logs and counts an end and lets it change how the listener stands, if its settings are still the same. */
  async #noteEnd(claimed: Claimed, end: Outcome, durationMs: number): Promise<void> {
    const { log, onEnd } = this.#deps;
    onEnd?.(claimed, end, durationMs);
    if (end.class === 'delivered') this.#turn.isProven();
    logEnd(log, claimed, end, durationMs);
    await this.#held.noteEnd(claimed, end);
  }

  async #putOff(): Promise<DrainEnd | 'tested-later'> {
    const now = this.#deps.clock.now();
    const until = after(now, this.#turn.stayAwayMs(now));
    await this.#held.putOff(until);
    return this.#held.now.breaker.openSince ? 'tested-later' : { kind: 'put-off', until };
  }

  async #unreachable(server: string): Promise<DrainEnd> {
    const { breaker, serverId } = this.#held.now;
    const now = this.#deps.clock.now();
    return {
      kind: 'unreachable',
      server,
      waiting: await this.#turn.inTurn(() => countWaiting(this.#deps.votes, serverId)),
      nextTestAt: breaker.nextTestAt ?? after(now, SECOND),
      since: breaker.openSince ?? now,
      code: breaker.code ?? 'unreachable',
    };
  }
}
