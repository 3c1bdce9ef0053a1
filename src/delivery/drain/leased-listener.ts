import type { Collection } from 'mongodb';
import { answerStepFor, LONGEST_USUAL_NAME, RENEW_MS } from '../../listeners/delivery-limits.ts';
import type { Listener, ListenerProof } from '../../listeners/listener.ts';
import { firstBeyondAscii, hasAcknowledged, hasTakenVotes } from '../../listeners/listener-state.ts';
import type { Outcome } from '../../listeners/outcomes.ts';
import { updateLoader } from '../../platform/batching/write-loaders.ts';
import type { Limited } from '../../platform/limits/outgoing-limit.ts';
import type { Logger } from '../../platform/log.ts';
import { REPLICATED } from '../../platform/mongo.ts';
import type { Server } from '../../servers/server.ts';
import type { Vote } from '../../votes/vote.ts';
import { withListenerProof } from '../destination.ts';
import { asNotReady, asRefusalOfAll, asRefusalOfOne } from '../http/http-answer.ts';
import type { OpenedListener } from '../send-vote.ts';
import { givenUpAfter } from './after-attempt.ts';
import { answerStepOf, type RecordDeps, type Taken } from './attempt-record.ts';
import { healthAfter, type ListenerHealth, logHealth } from './breaker.ts';
import { readLeased, releaseLease, releaseWithRetries, renewLease } from './listener-lease.ts';
import type { Ended } from './record-outcomes.ts';
import { type Challenge, shareChallenges } from './shared-challenges.ts';

export const changeListeners = updateLoader<Listener>(REPLICATED);

export type ServerFacts = Promise<
  [server: Pick<Server, 'name' | 'ownerId' | 'removedAt'> | null, hasLost: boolean]
>;

type LastDelivery = Pick<Listener, 'lastDeliveredAt' | 'lastDeliveryConfirmed'>;

export type LeaseDeps = RecordDeps & {
  listeners: Collection<Listener>;
  log: Logger;
  config: { BREAKER_SCHEDULE: readonly number[] };
  open: (listener: Listener) => OpenedListener;
};

/**
 * A listener whose lease this worker owns. When it is set or resumed, its breaker closes and its revision increases:
 * the next `renew` reads that. When the game server comes back, another process makes the next test due earlier.
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
  #challengeAgain = shareChallenges();
  /** Changes are written one after another. */
  #written: Promise<unknown> = Promise.resolve();

  /** `since`: on `performance.now()`, at or before the start of the lease. */
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

  /** As last read, with the changes that this worker has made since. */
  get now(): Listener {
    return this.#now;
  }

  get opened(): OpenedListener {
    return this.#opened;
  }

  /** For good: another worker has had the lease, or the listener was removed or fetches now. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get log(): Logger {
    return this.#deps.log;
  }

  /** However often it was renewed since it was taken. */
  get isOld(): boolean {
    return performance.now() - this.#since > this.#deps.config.LEASE_MS / 2;
  }

  /** The next `renew` reads the settings, however recently they were read. */
  expectChange(): void {
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  /** Reads the settings again, and renews the lease after a third of it. False when the lease is lost. */
  async renew(maxAgeMs = RENEW_MS): Promise<boolean> {
    if (this.#isLost) return false;
    const now = performance.now();
    if (now - this.#readAt < maxAgeMs) return true;
    const isYoung = now - this.#renewedAt < this.#deps.config.LEASE_MS / 3;
    const { batcher, listeners } = this.#deps;
    const lease = { serverId: this.#now.serverId, owner: this.#owner };
    const renewed = isYoung
      ? await batcher.load(readLeased, listeners, lease)
      : await renewLease(this.#deps, lease.serverId, lease.owner);
    // A listener that fetches now is sent nothing.
    if (!renewed?._id.equals(this.#now._id) || renewed.protocol === 'fetch') {
      this.#isLost = true;
      return false;
    }
    this.#readAt = now;
    if (!isYoung) this.#renewedAt = now;
    if (renewed.revision === this.#now.revision) {
      const answerStep = Math.max(renewed.answerStep ?? 0, this.#now.answerStep ?? 0);
      const tested = renewed.tested ? { tested: renewed.tested } : {};
      this.#now = { ...this.#now, ...tested, lease: renewed.lease ?? null, answerStep };
    } else {
      this.#opened = this.#deps.open(renewed);
      this.#now = renewed;
      this.#challengeAgain = shareChallenges();
    }
    return true;
  }

  /**
   * What a website's refusal means. Without an acknowledged vote or test vote, it counts for all votes. Otherwise the
   * website gets a challenge: if it repeats it, only this vote fails, since anybody can vote under a name that is
   * refused (docs/adr/0123-votes-at-risk.md); if that fails now, the vote waits. One that never repeated a challenge
   * (older versions) gets none, because that would show nothing.
   */
  async judgeRefusal({ attempt }: Taken, refused: Outcome, challenge: Challenge): Promise<Outcome> {
    const isSame = () => attempt.revision === this.#now.revision;
    if (!isSame() || !hasAcknowledged(this.#now)) return asRefusalOfAll(refused);
    if (!this.#repeatsChallenges()) return asRefusalOfOne(refused);
    const failed = await this.#challengeAgain(challenge);
    if (failed?.class === 'none') return failed;
    if (failed?.class === 'configuration' || !isSame()) return asRefusalOfAll(refused, failed);
    return failed ? asNotReady(refused, failed) : asRefusalOfOne(refused);
  }

  #repeatsChallenges(): boolean {
    return this.#now.proven?.some(({ by }) => by === 'acknowledgement') ?? false;
  }

  /** Unless the settings have changed since the attempt. */
  async onOutcome({ taken, outcome, durationMs }: Ended): Promise<void> {
    const { vote, attempt } = taken;
    const { clock, config, log } = this.#deps;
    const acknowledgedAt = acknowledgedBefore(this.#now);
    const isSame = attempt.revision === this.#now.revision;
    const delivered = outcome.class === 'delivered' ? this.#noteDelivery(outcome, isSame) : null;
    if (!isSame) return;
    await this.#noteName(vote, outcome);
    // Anybody may vote under any name: five refusals of single votes, or of long names, must not pause a listener that
    // takes votes. Only for a website that repeats no challenges, nothing else could show that it refuses all.
    const isLongName = outcome.code === 'name-too-long' && vote.username.length > LONGEST_USUAL_NAME;
    const isProvable = attempt.protocol !== 'http' || this.#repeatsChallenges();
    if (isLongName || (outcome.class === 'vote-only' && hasAcknowledged(this.#now) && isProvable)) return;
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
      // Before it is stored: the next outcome of a running attempt is applied to it.
      this.#now = { ...this.#now, ...health };
      logHealth(log, before, health, vote._id.toString());
    }
    const { answerStep: newStep, ...change } = health;
    if (newStep > before.answerStep) await this.#raiseAnswerStep(newStep);
    if (health !== before || delivered) await this.#write({ ...change, ...delivered });
  }

  /** Many listeners mangle non-ASCII names in Votifier v1: stores the first such vote. */
  async #noteName({ _id: voteId, username }: Vote, { reached }: Outcome): Promise<void> {
    const isSent = reached === 'written' || reached === 'acknowledged';
    const isAscii = /^[\u0020-\u007e]*$/.test(username);
    if (this.#now.protocol !== 'votifier-v1' || !isSent || isAscii || firstBeyondAscii(this.#now)) return;
    const beyondAscii = { at: this.#deps.clock.now(), voteId };
    this.#now = { ...this.#now, beyondAscii };
    await this.#write({ beyondAscii });
  }

  /** In memory; `release` stores it. Returns what must be stored at once, because later outcomes are judged by it. */
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

  /** In memory; removes the limit. False if the settings changed since the attempt began. */
  prove({ attempt }: Ended['taken'], proof: ListenerProof): boolean {
    if (attempt.revision !== this.#now.revision) return false;
    this.#now = { ...this.#now, proven: withListenerProof(this.#now.proven, proof), limited: null };
    return true;
  }

  /** If this write is lost, the next acknowledgement proves the address again. */
  async storeProofs(): Promise<void> {
    const { proven, limited = null } = this.#now;
    if (proven) await this.#write({ proven, limited });
  }

  /** Until it ends, or is removed by new settings, a resume or a proof. */
  async limit(limited: Limited): Promise<void> {
    this.#now = { ...this.#now, limited };
    await this.#write({ limited });
  }

  async #write(change: Partial<Listener>): Promise<void> {
    const { _id, serverId, revision } = this.#now;
    // Nothing if the settings changed, the listener was replaced or another worker has the lease.
    const q = { _id, serverId, 'lease.owner': this.#owner, revision };
    const { batcher, listeners } = this.#deps;
    const write = () => batcher.load(changeListeners, listeners, { q, u: { $set: change } });
    // The caller of an earlier write that failed got its error.
    this.#written = this.#written.catch(() => undefined).then(write);
    await this.#written;
  }

  /** Even if the lease was lost: the listener was slow all the same. */
  async #raiseAnswerStep(answerStep: number): Promise<void> {
    const { _id, serverId, revision } = this.#now;
    const { batcher, listeners } = this.#deps;
    const statement = { q: { _id, serverId, revision }, u: { $max: { answerStep } } };
    await batcher.load(changeListeners, listeners, statement);
  }

  /** Releases the lease again after `release` has failed. */
  releaseLater(ending: AbortSignal): Promise<void> {
    return releaseWithRetries(this.#deps, this.#now.serverId, this.#owner, ending);
  }

  release(): Promise<{ called: boolean; changed: boolean }> {
    const { serverId, revision } = this.#now;
    // The time of the last delivery is usually written here, once for many votes.
    return releaseLease(this.#deps, serverId, this.#owner, { revision, learnt: this.#delivered });
  }
}

/** With its current settings; null also if no time is stored. */
function acknowledgedBefore(listener: Listener): Date | null {
  if (!hasTakenVotes(listener)) return null;
  return listener.acknowledgedAt ?? listener.lastDeliveredAt ?? null;
}
