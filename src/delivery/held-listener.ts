import type { Collection } from 'mongodb';
import type { Lanes } from '../batching/lanes.ts';
import { updateTogether } from '../batching/write-together.ts';
import type { Clock } from '../clock.ts';
import { SECOND } from '../clock.ts';
import type { Limited } from '../limits/outgoing-limit.ts';
import type { Logger } from '../log.ts';
import { REPLICATED } from '../mongo.ts';
import { answerStepOf, type Claimed } from './after-end.ts';
import { type Standing, standingAfter } from './breaker.ts';
import { withProof } from './destination.ts';
import { hasTakenVotes, type Listener, type Proof } from './listener.ts';
import { renewLease } from './listener-lease.ts';
import { logStanding } from './log-ends.ts';
import type { Outcome } from './outcomes.ts';
import { LONGEST_USUAL_NAME } from './schedule.ts';
import type { OpenedListener } from './send-vote.ts';

/** How often the lease is renewed and the listener's settings are read again. */
export const RENEW_MS = SECOND;

/** Changes of listeners by those who hold their leases. */
const changeListeners = updateTogether<Listener>(REPLICATED);

type Holding = {
  listeners: Collection<Listener>;
  lanes: Lanes;
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
  #renewedAt: number;
  #lastDelivered: Pick<Listener, 'lastDeliveredAt' | 'lastDeliveryConfirmed'> | undefined;
  /** Changes of the listener's standing are written one after the other. */
  #written: Promise<unknown> = Promise.resolve();

  /** @param lease - who holds it, and since when on `performance.now()`, no later than it was taken */
  constructor(
    deps: Holding,
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

  /**
   * Takes over the renewed lease and changed settings. While these stand, nobody but the holder of the lease changes
   * the standing.
   */
  #follow(listener: Listener): void {
    if (listener.revision === this.#now.revision) {
      this.#now = { ...this.#now, lease: listener.lease ?? null };
      return;
    }
    this.#opened = this.#deps.open(listener);
    this.#now = listener;
  }

  /** Lets the end of a vote's attempt change how the listener stands, if its settings are still the same. */
  async noteEnd(claimed: Claimed, end: Outcome): Promise<void> {
    const { vote, attempt } = claimed;
    const { clock, config, log } = this.#deps;
    const acknowledgedAt = acknowledgedBefore(this.#now);
    if (end.class === 'delivered') {
      this.#lastDelivered = {
        lastDeliveredAt: clock.now(),
        lastDeliveryConfirmed: end.code === 'acknowledged',
      };
      this.#now = { ...this.#now, ...this.#lastDelivered };
    }
    if (attempt.revision !== this.#now.revision) return;
    // Anybody may vote under any name: five long ones must not stop everybody's votes.
    if (end.code === 'name-too-long' && vote.username.length > LONGEST_USUAL_NAME) return;
    const before: Standing = {
      breaker: this.#now.breaker,
      pause: this.#now.pause ?? null,
      voteFaults: this.#now.voteFaults,
      released: this.#now.released ?? null,
      acknowledgedAt,
      answerStep: this.#now.answerStep ?? 0,
    };
    const told = { ...end, test: attempt.test, answerStep: answerStepOf(claimed) };
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

  /**
   * Takes over at once what an attempt proved, unless the settings were changed meanwhile. A limit that it was under
   * ends with that.
   *
   * @returns whether it is to be stored by `storeProofs`
   */
  prove({ attempt }: Claimed, proof: Proof): boolean {
    if (attempt.revision !== this.#now.revision) return false;
    this.#now = { ...this.#now, proven: withProof(this.#now.proven, proof), limited: null };
    return true;
  }

  /** Stores what attempts proved. If this write is lost, the next acknowledgement proves the address again. */
  async storeProofs(): Promise<void> {
    const { proven, limited = null } = this.#now;
    if (proven) await this.#write({ proven, limited });
  }

  /** No connection to it is opened while an allowance is used up, unless its owner changes something. */
  async limit(limited: Limited): Promise<void> {
    this.#now = { ...this.#now, limited };
    await this.#write({ limited });
  }

  async #write(standing: Partial<Standing & Pick<Listener, 'proven' | 'limited'>>): Promise<void> {
    const { _id, serverId, revision } = this.#now;
    // Not a listener that was removed and set again, and not one that another worker has taken over.
    const ours = { _id, serverId, 'lease.owner': this.#owner, revision };
    const { lanes, listeners } = this.#deps;
    const write = () => lanes.ask(changeListeners, listeners, { q: ours, u: { $set: standing } });
    // One that failed has told its own caller; it does not keep the later ones from being written.
    this.#written = this.#written.catch(() => undefined).then(write);
    await this.#written;
  }

  /** Gives the lease back; does nothing when another holds it by now. */
  async giveBack(): Promise<void> {
    const { lanes, listeners } = this.#deps;
    const q = { serverId: this.#now.serverId, 'lease.owner': this.#owner };
    // When it last took a vote is written once a drain, not once a vote.
    await lanes.ask(changeListeners, listeners, { q, u: { $set: { lease: null, ...this.#lastDelivered } } });
  }
}

/** When it first took a vote with its present settings, so far as that is on record. */
function acknowledgedBefore(listener: Listener): Date | null {
  if (!hasTakenVotes(listener)) return null;
  return listener.acknowledgedAt ?? listener.lastDeliveredAt ?? null;
}
