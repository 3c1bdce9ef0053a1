import PQueue from 'p-queue';
import { MAX_CONCURRENT_ATTEMPTS } from '../../listeners/delivery-limits.ts';
import { listenerState } from '../../listeners/listener.ts';
import { within } from '../../platform/deadline.ts';
import { asAllowedNow } from './after-attempt.ts';
import { attemptDelivery, type Ready } from './attempt-delivery.ts';
import type { DrainDeps, DrainOptions } from './drain.ts';
import { type LeasedListener, RENEW_MS } from './leased-listener.ts';
import { logOutcome } from './log-outcomes.ts';
import { type Ended, recordWithRetries } from './record-outcomes.ts';
import { UnsentVotes } from './unsent-votes.ts';

/** Logs and counts an outcome and lets it change the listener's state. */
export async function onOutcome(
  { log, onOutcome }: DrainDeps,
  leased: LeasedListener,
  ended: Ended,
): Promise<void> {
  onOutcome?.(ended, leased.now);
  logOutcome(log, ended.taken, ended.outcome, ended.durationMs);
  await leased.onOutcome(ended);
}

/** Sends the taken votes of a leased listener, four at once, and records their outcomes. */
export class AttemptsUnderWay {
  readonly #deps: DrainDeps;
  readonly #leased: LeasedListener;
  readonly #options: DrainOptions;
  readonly #accountId: string | null;
  readonly #sending = new PQueue({ concurrency: MAX_CONCURRENT_ATTEMPTS });
  /** Taken votes, until their outcome is recorded or they are to be given back. */
  readonly #open = new Set<Promise<void>>();
  /** Taken votes that are not sent and are to be given back. */
  readonly #unsent: UnsentVotes;
  #closing = false;
  /** Resolves when a taken vote leaves `#open`. */
  #change = Promise.withResolvers<void>();
  #error: unknown = null;

  /** @param accountId - the owner of the listener's server; null when it has none */
  constructor(deps: DrainDeps, leased: LeasedListener, options: DrainOptions, accountId: string | null) {
    this.#deps = deps;
    this.#leased = leased;
    this.#options = options;
    this.#accountId = accountId;
    this.#unsent = new UnsentVotes(deps, leased);
  }

  /** Taken votes whose outcome is not recorded yet. */
  get open(): number {
    return this.#open.size;
  }

  /** Taken votes whose attempt has not ended or not begun. */
  get unsent(): number {
    return this.#sending.size + this.#sending.pending;
  }

  /** Throws the first error of Tallyport itself in an attempt. */
  throwFault(): void {
    if (this.#error) throw this.#error;
  }

  /** Resolves when a taken vote is recorded or given back, or after `ms` milliseconds. */
  async changed(ms: number): Promise<void> {
    await within(ms, this.#change.promise).catch(() => undefined);
  }

  /** Sends a taken vote as soon as a slot is free, after those that were added before. */
  add(ready: Ready): void {
    const open = this.#sending
      .add(() => this.#attempt(ready))
      .then((attempt) => attempt?.recorded)
      .catch((error: unknown) => {
        this.#error ??= error;
      })
      .finally(() => {
        this.#open.delete(open);
        this.#change.resolve();
        this.#change = Promise.withResolvers<void>();
      });
    this.#open.add(open);
  }

  /** Gives back votes that may have been taken and are not sent. */
  addUnsent(votes: Ready[]): void {
    for (const ready of votes) this.#unsent.add(ready);
  }

  /** Begins no more attempts, waits for the running ones while it renews the lease, and gives the other votes back. */
  async close(): Promise<void> {
    this.#closing = true;
    // Votes without a running attempt are not sent, so they need no slot.
    this.#sending.concurrency = Number.POSITIVE_INFINITY;
    while (this.#open.size > 0) {
      await within(RENEW_MS, Promise.all(this.#open)).catch(() => undefined);
      // When MongoDB is unavailable, the next iteration tries again; records of outcomes are retried.
      await this.#leased.renew().catch(() => false);
      // Now, not after the running attempts: the leases of these votes may expire before.
      await this.#unsent.giveBack().catch(() => undefined);
    }
    await this.#unsent.giveBackWithRetries(this.#options.waitNoLonger);
    this.throwFault();
  }

  /**
   * Releases the votes that may not be sent any more, and with them all that have not begun: those are later in the
   * queue, and would go out before them.
   */
  async giveBackUnsent(): Promise<void> {
    while (this.#unsent.size > 0) {
      // They are not sent, so they need no slot.
      this.#sending.concurrency = Number.POSITIVE_INFINITY;
      await this.#sending.onSizeLessThan(1);
      this.#sending.concurrency = MAX_CONCURRENT_ATTEMPTS;
      await this.#unsent.giveBack();
    }
  }

  /** Keeps its slot until the next vote may be sent; `recorded` settles when the outcome of this one is recorded. */
  async #attempt(ready: Ready): Promise<{ recorded: Promise<void> } | undefined> {
    if (!this.#maySend(ready)) {
      this.#unsent.add(ready);
      return undefined;
    }
    const { proven } = this.#leased.now;
    const options = { ...this.#options, accountId: this.#accountId };
    const end = await attemptDelivery(this.#deps, this.#leased, ready, options);
    const { outcome, durationMs, limited, proof } = end;
    const endedAt = Date.now();
    const taken = asAllowedNow(ready.taken, this.#leased.now);
    if (outcome.code === 'outgoing-limited' && limited) {
      this.#unsent.add(ready);
      // Otherwise another attempt has proven the address meanwhile, and this vote is sent at once.
      if (this.#leased.now.proven !== proven) return undefined;
      await this.#leased.limit(limited);
      this.#deps.log.info({ event: 'delivery.limited', by: limited.by, until: limited.until });
      return undefined;
    }
    // In memory at once: the next vote is sent as to a proven listener.
    const isProven = proof !== null && this.#leased.prove(taken, proof);
    const recorded = this.#record({ taken, outcome, durationMs, endedAt }, isProven);
    if (outcome.class === 'delivered' && !taken.attempt.test) return { recorded };
    // Any other outcome may change the listener's state.
    await recorded;
    return undefined;
  }

  /** Records an outcome, usually after all earlier ones, and applies it to the listener's state. */
  async #record(ended: Ended, isProven: boolean): Promise<void> {
    const { waitNoLonger } = this.#options;
    const counts = await recordWithRetries(this.#deps, ended, waitNoLonger);
    if (counts) await onOutcome(this.#deps, this.#leased, ended);
    if (isProven) await this.#leased.storeChallenges();
  }

  /** Whether a taken vote may still be sent: the drain continues and the listener is unchanged. */
  #maySend({ taken: { attempt }, takenAt }: Ready): boolean {
    if (this.#closing || this.#error || this.#options.stop.aborted || this.#leased.isLost) return false;
    // Votes after one that is given back are given back too, to preserve their order.
    if (this.#unsent.size > 0) return false;
    // The attempt needs enough of its lease: the listener may have become slow since the vote was taken.
    if (performance.now() - takenAt > this.#deps.config.LEASE_MS / 2) return false;
    const { limited, revision } = this.#leased.now;
    if (limited && this.#deps.clock.now() < limited.until) return false;
    const state = listenerState(this.#leased.now);
    const isUnchanged = attempt.test ? state === 'unreachable' : state === 'active' || state === 'unverified';
    return isUnchanged && attempt.revision === revision;
  }
}
