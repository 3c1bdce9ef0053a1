import type { Collection } from 'mongodb';
import { LONGEST_USUAL_NAME } from '../../listeners/delivery-limits.ts';
import { hasTakenVotes, type Listener, type ListenerProof } from '../../listeners/listener.ts';
import type { Batcher } from '../../platform/batching/batcher.ts';
import { updateLoader } from '../../platform/batching/write-loaders.ts';
import { type Clock, SECOND } from '../../platform/clock.ts';
import type { Limited } from '../../platform/limits/outgoing-limit.ts';
import type { Logger } from '../../platform/log.ts';
import { REPLICATED } from '../../platform/mongo.ts';
import { withChallenge } from '../destination.ts';
import type { OpenedListener } from '../send-vote.ts';
import { answerStepOf } from './attempt-record.ts';
import { healthAfter, type ListenerHealth } from './breaker.ts';
import { releaseLease, renewLease } from './listener-lease.ts';
import type { Ended } from './record-outcomes.ts';

/** How often the lease is renewed and the listener's settings are read again. */
export const RENEW_MS = SECOND;

/** Changes of listeners by the owners of their leases. */
const changeListeners = updateLoader<Listener>(REPLICATED);

type LeaseDeps = {
  listeners: Collection<Listener>;
  batcher: Batcher;
  clock: Clock;
  log: Logger;
  config: { LEASE_MS: number; BREAKER_SCHEDULE: readonly number[] };
  open: (listener: Listener) => OpenedListener;
};

/**
 * A listener whose lease this worker owns. Its breaker is in memory: other processes only bring its next test forward.
 * A change by its owner increases its revision and is read when the lease is renewed.
 */
export class LeasedListener {
  readonly #deps: LeaseDeps;
  readonly #owner: string;
  #now: Listener;
  #opened: OpenedListener;
  #renewedAt: number;
  #isLost = false;
  #delivered: Pick<Listener, 'lastDeliveredAt' | 'lastDeliveryConfirmed'> = {};
  /** Changes are written one after another. */
  #written: Promise<unknown> = Promise.resolve();

  /** @param lease - its owner, and since when on `performance.now()`: not later than it was taken */
  constructor(
    deps: LeaseDeps,
    lease: { owner: string; since: number },
    listener: Listener,
    opened: OpenedListener,
  ) {
    this.#deps = deps;
    this.#owner = lease.owner;
    this.#renewedAt = lease.since;
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

  /** Whether the lease is lost, for good: the listener was removed, or another worker has had the lease. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Renews the lease and reads the settings again, once a second; false when the lease is lost. */
  async renew(): Promise<boolean> {
    if (this.#isLost) return false;
    const now = performance.now();
    if (now - this.#renewedAt < RENEW_MS) return true;
    const renewed = await renewLease(this.#deps, this.#now.serverId, this.#owner);
    if (!renewed?._id.equals(this.#now._id)) {
      this.#isLost = true;
      return false;
    }
    this.#renewedAt = now;
    if (renewed.revision === this.#now.revision) {
      this.#now = { ...this.#now, lease: renewed.lease ?? null };
    } else {
      this.#opened = this.#deps.open(renewed);
      this.#now = renewed;
    }
    return true;
  }

  /** Applies an outcome to the breaker or pauses the listener, if its settings are still those of the attempt. */
  async onOutcome({ taken, outcome }: Ended): Promise<void> {
    const { vote, attempt } = taken;
    const { clock, config, log } = this.#deps;
    const acknowledgedAt = acknowledgedBefore(this.#now);
    if (outcome.class === 'delivered') {
      const lastDeliveryConfirmed = outcome.code === 'acknowledged';
      this.#delivered = { lastDeliveredAt: clock.now(), lastDeliveryConfirmed };
      this.#now = { ...this.#now, ...this.#delivered };
    }
    if (attempt.revision !== this.#now.revision) return;
    // Anybody may vote under any name: five names that are too long must not stop all votes.
    if (outcome.code === 'name-too-long' && vote.username.length > LONGEST_USUAL_NAME) return;
    const before: ListenerHealth = {
      breaker: this.#now.breaker,
      pause: this.#now.pause ?? null,
      voteFaults: this.#now.voteFaults,
      released: this.#now.released ?? null,
      acknowledgedAt,
      answerStep: this.#now.answerStep ?? 0,
    };
    const judged = { ...outcome, test: attempt.test, answerStep: answerStepOf(taken) };
    const health = healthAfter(before, judged, clock.now(), config.BREAKER_SCHEDULE);
    if (health === before) return;
    // In memory at once: the other attempts in progress are judged by the new state.
    this.#now = { ...this.#now, ...health };
    logHealth(log, before, health, vote._id.toString());
    await this.#write(health);
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

  /** Stores what attempts proved. If this write is lost, the next acknowledgement proves the address again. */
  async storeChallenges(): Promise<void> {
    const { proven, limited = null } = this.#now;
    if (proven) await this.#write({ proven, limited });
  }

  /** Stores that an allowance is used up, and until when. No connection is opened before, unless the owner changes it. */
  async limit(limited: Limited): Promise<void> {
    this.#now = { ...this.#now, limited };
    await this.#write({ limited });
  }

  async #write(change: Partial<ListenerHealth & Pick<Listener, 'proven' | 'limited'>>): Promise<void> {
    const { _id, serverId, revision } = this.#now;
    // Not a listener that was removed and set again, and not one that another worker has taken over.
    const q = { _id, serverId, 'lease.owner': this.#owner, revision };
    const { batcher, listeners } = this.#deps;
    const write = () => batcher.load(changeListeners, listeners, { q, u: { $set: change } });
    // A failed write has thrown to its own caller; it does not prevent later writes.
    this.#written = this.#written.catch(() => undefined).then(write);
    await this.#written;
  }

  /**
   * Releases the lease.
   *
   * @returns whether a wake-up job ran meanwhile, and whether the settings were changed since the last renewal
   */
  async release(): Promise<{ called: boolean; changed: boolean }> {
    const { serverId, revision } = this.#now;
    // The time of the last delivery is written once for each drain, not for each vote.
    const released = await releaseLease(this.#deps, serverId, this.#owner, this.#delivered);
    return {
      called: released?.called ?? false,
      changed: released !== null && released.revision !== revision,
    };
  }
}

/** When it first took a vote with its current settings, if that is on record. */
function acknowledgedBefore(listener: Listener): Date | null {
  if (!hasTakenVotes(listener)) return null;
  return listener.acknowledgedAt ?? listener.lastDeliveredAt ?? null;
}

/** Logs how the outcome of an attempt changed its listener, if that is of interest to an operator. */
function logHealth(log: Logger, before: ListenerHealth, health: ListenerHealth, voteId: string): void {
  const { breaker, pause } = health;
  const wasOpen = before.breaker.openSince;
  if (!wasOpen && breaker.openSince) {
    log.warn({ event: 'breaker.opened', voteId, code: breaker.code, nextTestAt: breaker.nextTestAt });
  }
  if (wasOpen && !breaker.openSince) log.info({ event: 'breaker.closed', voteId, openSince: wasOpen });
  if (pause && !before.pause) log.warn({ event: 'listener.paused', voteId, by: pause.by, code: pause.code });
}
