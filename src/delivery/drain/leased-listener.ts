import type { Collection } from 'mongodb';
import { answerStepFor, LONGEST_USUAL_NAME } from '../../listeners/delivery-limits.ts';
import type { Listener, ListenerProof } from '../../listeners/listener.ts';
import { firstBeyondAscii, hasAcknowledged, hasTakenVotes } from '../../listeners/listener-state.ts';
import type { Outcome } from '../../listeners/outcomes.ts';
import type { Batcher } from '../../platform/batching/batcher.ts';
import { updateLoader } from '../../platform/batching/write-loaders.ts';
import { type Clock, SECOND } from '../../platform/clock.ts';
import type { Limited } from '../../platform/limits/outgoing-limit.ts';
import type { Logger } from '../../platform/log.ts';
import { REPLICATED } from '../../platform/mongo.ts';
import type { Server } from '../../servers/server.ts';
import type { Vote } from '../../votes/vote.ts';
import { withChallenge } from '../destination.ts';
import { asRefusalOfAll } from '../http/http-answer.ts';
import type { OpenedListener } from '../send-vote.ts';
import { givenUpAfter } from './after-attempt.ts';
import { answerStepOf, type Taken } from './attempt-record.ts';
import { healthAfter, type ListenerHealth, logHealth } from './breaker.ts';
import { readAgain, releaseLease, releaseWithRetries, renewLease } from './listener-lease.ts';
import type { Ended } from './record-outcomes.ts';

/** A drain reads the listener's settings again after this time. The lease is renewed when a third of it has passed. */
export const RENEW_MS = SECOND;

/** Changes of listeners by the owners of their leases. */
const changeListeners = updateLoader<Listener>(REPLICATED);

/** The server of a listener, and whether it has lost attempts. */
export type ServerFacts = Promise<
  [server: Pick<Server, 'name' | 'ownerId' | 'removedAt'> | null, hasLost: boolean]
>;

type LastDelivery = Pick<Listener, 'lastDeliveredAt' | 'lastDeliveryConfirmed'>;

type LeaseDeps = {
  listeners: Collection<Listener>;
  batcher: Batcher;
  clock: Clock;
  log: Logger;
  config: { LEASE_MS: number; LISTENER_TIMEOUT_MS: number; BREAKER_SCHEDULE: readonly number[] };
  open: (listener: Listener) => OpenedListener;
};

/**
 * A listener whose lease this worker owns. This worker alone changes its breaker and has it in memory; other processes
 * can only set an earlier time for its next test. If the owner of the server changes the settings, the revision
 * increases, and the next renewal of the lease reads the new settings.
 */
export class LeasedListener {
  readonly #deps: LeaseDeps;
  readonly #owner: string;
  #now: Listener;
  #opened: OpenedListener;
  facts: ServerFacts;
  readonly #since: number;
  #renewedAt: number;
  #readAt: number;
  #isLost = false;
  #delivered: LastDelivery = {};
  /** Whether it refused a vote and has taken none since. Set at once, before `voteFaults` counts the refusal. */
  #hasRefused = false;
  /** The last write: changes are written one after another. */
  #written: Promise<unknown> = Promise.resolve();

  /**
   * @param lease - its owner, a time on `performance.now()` at or before which it began, and what was read with it
   */
  constructor(
    deps: LeaseDeps,
    lease: { owner: string; since: number; facts: ServerFacts },
    listener: Listener,
    opened: OpenedListener,
  ) {
    this.#deps = deps;
    this.#owner = lease.owner;
    this.facts = lease.facts;
    this.#since = this.#renewedAt = this.#readAt = lease.since;
    this.#now = listener;
    this.#opened = opened;
  }

  /** The current listener. */
  get now(): Listener {
    return this.#now;
  }

  /** Its settings and opened secret. */
  get opened(): OpenedListener {
    return this.#opened;
  }

  /** Whether the lease is lost, for good: the listener was removed or fetches now, or another worker has had the lease. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get log(): Logger {
    return this.#deps.log;
  }

  /** Whether half of a lease has passed since it was taken, however often it was renewed. */
  get isOld(): boolean {
    return performance.now() - this.#since > this.#deps.config.LEASE_MS / 2;
  }

  /** The settings may have changed: `renew` reads them at once. */
  expectChange(): void {
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * Reads the settings again if they are older than `maxAgeMs`, and renews the lease in time; false when the lease is
   * lost.
   */
  async renew(maxAgeMs = RENEW_MS): Promise<boolean> {
    if (this.#isLost) return false;
    const now = performance.now();
    if (now - this.#readAt < maxAgeMs) return true;
    const isYoung = now - this.#renewedAt < this.#deps.config.LEASE_MS / 3;
    const readOrRenew = isYoung ? readAgain : renewLease;
    const renewed = await readOrRenew(this.#deps, this.#now.serverId, this.#owner);
    // A listener that fetches now gets nothing from a drain.
    if (!renewed?._id.equals(this.#now._id) || renewed.protocol === 'fetch') {
      this.#isLost = true;
      return false;
    }
    this.#readAt = now;
    if (!isYoung) this.#renewedAt = now;
    if (renewed.revision === this.#now.revision) {
      const answerStep = Math.max(renewed.answerStep ?? 0, this.#now.answerStep ?? 0);
      this.#now = { ...this.#now, lease: renewed.lease ?? null, answerStep };
    } else {
      this.#opened = this.#deps.open(renewed);
      this.#now = renewed;
      this.#hasRefused = false;
    }
    return true;
  }

  /**
   * The outcome of an attempt in view of the listener's other votes. If a website refuses a vote, the refusal concerns
   * this vote alone only if the website has acknowledged votes with these settings and took the vote before it.
   * Otherwise it counts as a refusal of all votes.
   */
  judge({ attempt }: Taken, outcome: Outcome): Outcome {
    const isSame = attempt.revision === this.#now.revision;
    if (isSame && outcome.class === 'delivered') this.#hasRefused = false;
    if (outcome.code !== 'vote-refused') return outcome;
    const refusedBefore = this.#hasRefused || this.#now.voteFaults > 0;
    if (!isSame || refusedBefore || !hasAcknowledged(this.#now)) return asRefusalOfAll(outcome);
    // Set at once: another vote may be refused before this outcome is recorded.
    this.#hasRefused = true;
    return outcome;
  }

  /**
   * Applies an outcome to the breaker, or pauses the listener. Ignored if the settings have changed since the attempt
   * began.
   */
  async onOutcome({ taken, outcome, durationMs }: Ended): Promise<void> {
    const { vote, attempt } = taken;
    const { clock, config, log } = this.#deps;
    const acknowledgedAt = acknowledgedBefore(this.#now);
    const isSame = attempt.revision === this.#now.revision;
    const delivered = outcome.class === 'delivered' ? this.#noteDelivery(outcome, isSame) : null;
    if (!isSame) return;
    await this.#noteName(vote, outcome);
    // Anybody may vote under any name: otherwise five votes with very long names would pause the listener.
    if (outcome.code === 'name-too-long' && vote.username.length > LONGEST_USUAL_NAME) return;
    const before: ListenerHealth = {
      breaker: this.#now.breaker,
      pause: this.#now.pause ?? null,
      voteFaults: this.#now.voteFaults,
      released: this.#now.released ?? null,
      acknowledgedAt,
      answerStep: this.#now.answerStep ?? 0,
    };
    const answerStep = answerStepOf(taken);
    const judged = {
      ...outcome,
      test: attempt.test,
      answerStep,
      neededStep: Math.min(answerStepFor(config.LISTENER_TIMEOUT_MS, durationMs), answerStep),
      protocol: attempt.protocol,
      isLastSending: givenUpAfter(taken, outcome) !== null,
    };
    const health = healthAfter(before, judged, clock.now(), config.BREAKER_SCHEDULE);
    if (health !== before) {
      // The new state counts in memory before it is stored: outcomes of the other running attempts are applied to it.
      this.#now = { ...this.#now, ...health };
      logHealth(log, before, health, vote._id.toString());
    }
    if (health.answerStep > before.answerStep) await this.#raiseAnswerStep(health.answerStep);
    const { answerStep: _, ...change } = health;
    if (health !== before || delivered) await this.#write({ ...change, ...delivered });
  }

  /** Keeps the first name beyond ASCII that was sent in Votifier v1: many listeners mangle it. */
  async #noteName({ _id: voteId, username }: Vote, { reached }: Outcome): Promise<void> {
    const isSent = reached === 'written' || reached === 'acknowledged';
    const isAscii = /^[\u0020-\u007e]*$/.test(username);
    if (this.#now.protocol !== 'votifier-v1' || !isSent || isAscii || firstBeyondAscii(this.#now)) return;
    const beyondAscii = { at: this.#deps.clock.now(), voteId };
    this.#now = { ...this.#now, beyondAscii };
    await this.#write({ beyondAscii });
  }

  /**
   * Records in memory when the listener last took a vote.
   *
   * @param isSame - the listener's settings are still those of the attempt
   * @returns what must be stored at once because it decides how later outcomes are judged; the rest is stored when
   *   the lease is released
   */
  #noteDelivery({ code }: Outcome, isSame: boolean): LastDelivery | null {
    const { lastDeliveryConfirmed: before } = this.#now;
    const lastDeliveredAt = this.#deps.clock.now();
    if (!isSame) {
      this.#delivered = { ...this.#delivered, lastDeliveredAt };
      return null;
    }
    const isFirst = acknowledgedBefore(this.#now) === null;
    const lastDeliveryConfirmed = code === 'acknowledged';
    this.#delivered = { lastDeliveredAt, lastDeliveryConfirmed };
    this.#now = { ...this.#now, ...this.#delivered };
    return isFirst || lastDeliveryConfirmed !== before ? this.#delivered : null;
  }

  /**
   * Adds a proof to the listener in memory and removes its limit. Does nothing if the settings changed since the attempt
   * began.
   *
   * @returns whether `storeChallenges` has to store it
   */
  prove({ attempt }: Ended['taken'], proof: ListenerProof): boolean {
    if (attempt.revision !== this.#now.revision) return false;
    this.#now = { ...this.#now, proven: withChallenge(this.#now.proven, proof), limited: null };
    return true;
  }

  /** Stores the proofs of attempts. If this write is lost, the next acknowledgement proves the address again. */
  async storeChallenges(): Promise<void> {
    const { proven, limited = null } = this.#now;
    if (proven) await this.#write({ proven, limited });
  }

  /**
   * Stores that an allowance of connections is used up and until when. Until then no connection is opened, unless the
   * owner changes the settings.
   */
  async limit(limited: Limited): Promise<void> {
    this.#now = { ...this.#now, limited };
    await this.#write({ limited });
  }

  async #write(change: Partial<Listener>): Promise<void> {
    const { _id, serverId, revision } = this.#now;
    // If the listener was removed and set again, or another worker has the lease now, nothing is written.
    const q = { _id, serverId, 'lease.owner': this.#owner, revision };
    const { batcher, listeners } = this.#deps;
    const write = () => batcher.load(changeListeners, listeners, { q, u: { $set: change } });
    // If an earlier write failed, its own caller has the error; this write is still made.
    this.#written = this.#written.catch(() => undefined).then(write);
    await this.#written;
  }

  /**
   * Stores a higher answer step, even if the lease was lost: a late acknowledgement shows how long the listener needs.
   * `$max` never lowers it.
   */
  async #raiseAnswerStep(answerStep: number): Promise<void> {
    const { _id, serverId, revision } = this.#now;
    const { batcher, listeners } = this.#deps;
    const statement = { q: { _id, serverId, revision }, u: { $max: { answerStep } } };
    await batcher.load(changeListeners, listeners, statement);
  }

  /** Releases the lease after `release` has failed, as `releaseWithRetries`. */
  releaseLater(ending: AbortSignal): Promise<void> {
    return releaseWithRetries(this.#deps, this.#now.serverId, this.#owner, ending);
  }

  /**
   * Releases the lease.
   *
   * @returns `called`: a wake-up job arrived meanwhile; `changed`: the settings changed since the last renewal
   */
  release(): Promise<{ called: boolean; changed: boolean }> {
    const { serverId, revision } = this.#now;
    // The time of the last delivery is written once for each drain, not once for each vote.
    return releaseLease(this.#deps, serverId, this.#owner, { revision, learnt: this.#delivered });
  }
}

/** When it first took a vote with its current settings, if that is on record. */
function acknowledgedBefore(listener: Listener): Date | null {
  if (!hasTakenVotes(listener)) return null;
  return listener.acknowledgedAt ?? listener.lastDeliveredAt ?? null;
}
