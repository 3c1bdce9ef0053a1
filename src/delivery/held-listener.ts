import type { Collection } from 'mongodb';
import type { Clock } from '../clock.ts';
import { SECOND } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Claimed } from './after-end.ts';
import { type Standing, standingAfter } from './breaker.ts';
import type { Listener } from './listener.ts';
import { giveLeaseBack, renewLease } from './listener-lease.ts';
import { logStanding } from './log-ends.ts';
import type { Outcome } from './outcomes.ts';
import type { OpenedListener } from './send-vote.ts';

/** How often the lease is renewed and the listener's settings are read again. */
const RENEW_MS = SECOND;

type Holding = {
  listeners: Collection<Listener>;
  clock: Clock;
  log: Logger;
  config: { LEASE_MS: number; BREAKER_SCHEDULE: readonly number[] };
  open: (listener: Listener) => OpenedListener;
};

/**
 * A listener whose lease we hold. While it is held nobody else changes how the listener stands, so that is kept in
 * memory; what its owner changes raises its revision and is taken over when the lease is renewed.
 */
export class HeldListener {
  readonly #deps: Holding;
  readonly #owner: string;
  #now: Listener;
  #opened: OpenedListener;
  #renewedAt = performance.now();
  #lastDeliveredAt: Date | undefined;
  /** Changes of the listener's standing are written one after the other. */
  #written: Promise<unknown> = Promise.resolve();

  constructor(deps: Holding, owner: string, listener: Listener, opened: OpenedListener) {
    this.#deps = deps;
    this.#owner = owner;
    this.#now = listener;
    this.#opened = opened;
  }

  /** The listener as it stands now. */
  get now(): Listener {
    return this.#now;
  }

  /** Its settings and secret, ready to send with. */
  get opened(): OpenedListener {
    return this.#opened;
  }

  /** Renews the lease and reads the settings again, now and then; false when the lease is lost. */
  async renew(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#renewedAt < RENEW_MS) return true;
    const renewed = await renewLease(this.#deps, this.#now.serverId, this.#owner);
    if (!renewed?._id.equals(this.#now._id)) return false;
    this.#renewedAt = now;
    this.#follow(renewed);
    return true;
  }

  /** Takes over changed settings. While they stand, nobody but the holder of the lease changes the standing. */
  #follow(listener: Listener): void {
    if (listener.revision === this.#now.revision) return;
    this.#opened = this.#deps.open(listener);
    this.#now = listener;
  }

  /** Lets the end of a vote's attempt change how the listener stands, if its settings are still the same. */
  async noteEnd({ vote, attempt }: Claimed, end: Outcome): Promise<void> {
    const { clock, config, log } = this.#deps;
    if (end.class === 'delivered') {
      this.#lastDeliveredAt = clock.now();
      this.#now = { ...this.#now, lastDeliveredAt: this.#lastDeliveredAt };
    }
    if (attempt.revision !== this.#now.revision) return;
    const before: Standing = {
      breaker: this.#now.breaker,
      pause: this.#now.pause ?? null,
      voteFaults: this.#now.voteFaults,
      released: this.#now.released ?? null,
    };
    const told = { ...end, test: attempt.test };
    const standing = standingAfter(before, told, clock.now(), config.BREAKER_SCHEDULE);
    if (standing === before) return;
    // In memory at once: the other attempts under way must not be judged by the older standing.
    this.#now = { ...this.#now, ...standing };
    logStanding(log, before, standing, vote._id.toString());
    await this.#write(standing);
  }

  /** No vote of it is sent before `until`, unless its owner changes something. */
  async putOff(until: Date): Promise<void> {
    const breaker = { ...this.#now.breaker, nextTestAt: until };
    this.#now = { ...this.#now, breaker };
    await this.#write({ breaker });
  }

  async #write(standing: Partial<Standing>): Promise<void> {
    const { _id, serverId, revision } = this.#now;
    // Not a listener that was removed and set again, and not one that another worker has taken over.
    const ours = { _id, serverId, 'lease.owner': this.#owner, revision };
    this.#written = this.#written.then(() => this.#deps.listeners.updateOne(ours, { $set: standing }));
    await this.#written;
  }

  /** Gives the lease back. */
  async giveBack(): Promise<void> {
    await giveLeaseBack(this.#deps, this.#now.serverId, this.#owner, this.#lastDeliveredAt);
  }
}
