import PQueue from 'p-queue';
import { attemptLeaseMs, MAX_CONCURRENT_ATTEMPTS, RENEW_MS } from '../../listeners/delivery-limits.ts';
import { confirmsVotes, listenerState } from '../../listeners/listener-state.ts';
import { type Outcome, outcome, saidIn } from '../../listeners/outcomes.ts';
import { MINUTE } from '../../platform/clock.ts';
import { within } from '../../platform/deadline.ts';
import type { Logger } from '../../platform/log.ts';
import { retry } from '../../platform/retry.ts';
import { UnsealError } from '../../platform/secrets.ts';
import { traceField } from '../../platform/tracing/tracing.ts';
import { throwUnlessTransient } from '../../platform/transient-errors.ts';
import { Destination, shownToOwner, withListenerProof } from '../destination.ts';
import { asAllowedNow, givenUpAfter } from './after-attempt.ts';
import { answerStepOf, type Taken } from './attempt-record.ts';
import type { DrainDeps, DrainOptions } from './drain.ts';
import type { LeasedListener } from './leased-listener.ts';
import { type Ended, recordWithRetries } from './record-outcomes.ts';
import { giveBackVotes } from './take-votes.ts';

/** Retried for this long when a drain gives back its last votes and MongoDB is unavailable. */
const GIVE_BACK_FOR_MS = 30 * MINUTE;

/** `accountId`: the owner of the listener's server. */
type SendOptions = DrainOptions & { accountId: string | null };

export async function onOutcome(
  { log, onOutcome }: DrainDeps,
  leased: LeasedListener,
  ended: Ended,
): Promise<void> {
  onOutcome?.(ended, leased.now);
  logOutcome(log, ended.taken, ended.outcome, ended.durationMs);
  await leased.onOutcome(ended);
}

/** Up to four at once. */
export class AttemptsUnderWay {
  readonly #deps: DrainDeps;
  readonly #leased: LeasedListener;
  readonly #options: SendOptions;
  readonly #sending = new PQueue({ concurrency: MAX_CONCURRENT_ATTEMPTS });
  /** For each taken vote, until its outcome is recorded or it is in `#toGiveBack`. */
  readonly #open = new Set<Promise<void>>();
  /** Taken, but will not be sent. */
  readonly #toGiveBack: Taken[] = [];
  #closing = false;
  #change = Promise.withResolvers<void>();
  #error: unknown = null;

  constructor(deps: DrainDeps, leased: LeasedListener, options: SendOptions) {
    this.#deps = deps;
    this.#leased = leased;
    this.#options = options;
  }

  /** Taken votes without a recorded outcome, and not in `#toGiveBack`. */
  get open(): number {
    return this.#open.size;
  }

  /** Attempts that have not begun or not ended. */
  get unfinished(): number {
    return this.#sending.size + this.#sending.pending;
  }

  /** Such as a failed write. */
  throwFirstError(): void {
    if (this.#error) throw this.#error;
  }

  /** When `open` becomes smaller, or after `ms`. */
  async changed(ms: number): Promise<void> {
    await within(ms, this.#change.promise).catch(() => undefined);
  }

  /**
   * In the order of the calls. `takenAt`: on `performance.now()` just before the take, so the lease began no earlier.
   */
  add(taken: Taken, takenAt: number): void {
    const open = this.#sending
      .add(() => this.#attempt(taken, takenAt))
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

  /** They may have been taken, and will not be sent. */
  addToGiveBack(taken: Taken[]): void {
    this.#toGiveBack.push(...taken);
  }

  /** Begins no more attempts, waits for the running ones while it renews the lease, and gives back the other votes. */
  async close(): Promise<void> {
    this.#closing = true;
    // Without a limit, each vote that waits for a slot goes to `#toGiveBack` at once (`#maySend`).
    this.#sending.concurrency = Number.POSITIVE_INFINITY;
    while (this.#open.size > 0) {
      await within(RENEW_MS, Promise.all(this.#open)).catch(() => undefined);
      // The next iteration renews again. Writes of outcomes have their own retries.
      await this.#leased.renew().catch(() => false);
      // The leases of the unsent votes may expire before the running attempts end.
      await this.#giveBack().catch(() => undefined);
    }
    await this.#giveBackWithRetries();
    this.throwFirstError();
  }

  /** With votes after them in the queue whose attempt has not begun: otherwise these would go out first. */
  async giveBackUnsendable(): Promise<void> {
    while (this.#toGiveBack.length > 0) {
      // As in `close`.
      this.#sending.concurrency = Number.POSITIVE_INFINITY;
      await this.#sending.onSizeLessThan(1);
      this.#sending.concurrency = MAX_CONCURRENT_ATTEMPTS;
      await this.#giveBack();
    }
  }

  /** If this fails, the votes stay in the list. */
  async #giveBack(): Promise<void> {
    const votes = [...this.#toGiveBack];
    await giveBackVotes(this.#deps, this.#leased.now, votes);
    // Votes may have been added during the write.
    this.#toGiveBack.splice(0, votes.length);
  }

  /** Even after the leases have expired: a vote that stays taken would count as sent. */
  async #giveBackWithRetries(): Promise<void> {
    const giveUpAt = performance.now() + GIVE_BACK_FOR_MS;
    const giveBackAgain = async (tries: number) => {
      if (tries > 0) await this.#leased.renew().catch(() => false);
      await this.#giveBack();
    };
    await retry(giveBackAgain, {
      deadline: () => giveUpAt,
      signal: this.#options.waitNoLonger,
      onError: (error) => {
        const votes = this.#toGiveBack.length;
        this.#deps.log.warn({ event: 'delivery.not_released', votes, reason: String(error) });
        throwUnlessTransient(error);
      },
    });
  }

  /** Resolves when the slot is free again; `recorded` when the outcome is recorded. */
  async #attempt(given: Taken, takenAt: number): Promise<{ recorded: Promise<void> } | undefined> {
    if (!this.#maySend(given, takenAt)) {
      this.#toGiveBack.push(given);
      return undefined;
    }
    const { proven } = this.#leased.now;
    const result = await attemptDelivery(this.#deps, this.#leased, given, takenAt, this.#options);
    const { durationMs } = result;
    const { limited, proof } = result.destination;
    const endedAt = Date.now();
    const taken = asAllowedNow(given, this.#leased.now);
    const { outcome } = result;
    if (outcome.code === 'outgoing-limited' && limited) {
      this.#toGiveBack.push(given);
      // If another attempt has proven the address meanwhile, there is no limit.
      if (this.#leased.now.proven !== proven) return undefined;
      await this.#leased.limit(limited);
      this.#deps.log.info({ event: 'delivery.limited', by: limited.by, until: limited.until });
      return undefined;
    }
    // Used before it is stored: for the next vote, the address is already proven.
    const isProven = proof !== null && this.#leased.prove(taken, proof);
    const recorded = this.#record({ taken, outcome, durationMs, endedAt }, isProven);
    if (outcome.class === 'delivered' && !taken.attempt.test) return { recorded };
    // Any other outcome may change whether the next vote may be sent.
    await recorded;
    return undefined;
  }

  /** Unless an earlier outcome of the attempt stays, it changes the listener's state. */
  async #record(ended: Ended, isProven: boolean): Promise<void> {
    const { waitNoLonger } = this.#options;
    const counts = await recordWithRetries(this.#deps, ended, waitNoLonger);
    if (counts) await onOutcome(this.#deps, this.#leased, ended);
    if (isProven) await this.#leased.storeProofs();
  }

  /** The drain continues and the listener is unchanged. */
  #maySend(taken: Taken, takenAt: number): boolean {
    if (this.#closing || this.#error || this.#options.stop.aborted || this.#leased.isLost) return false;
    // The votes after one that is given back are given back too: this preserves their order.
    if (this.#toGiveBack.length > 0) return false;
    // The attempt might last longer than its lease.
    if (performance.now() - takenAt > this.#deps.config.LEASE_MS / 2) return false;
    const { limited, revision, answerStep } = this.#leased.now;
    // A listener that has become slower needs a longer lease.
    if (answerStepOf(taken) < (answerStep ?? 0)) return false;
    if (limited && this.#deps.clock.now() < limited.until) return false;
    const { attempt } = taken;
    const state = listenerState(this.#leased.now);
    const isUnchanged = attempt.test ? state === 'unreachable' : state === 'active' || state === 'unverified';
    return isUnchanged && attempt.revision === revision;
  }
}

/** Never throws: an internal error becomes the outcome `our-fault`. */
async function attemptDelivery(
  deps: DrainDeps,
  leased: LeasedListener,
  taken: Taken,
  takenAt: number,
  { stop, waitNoLonger, accountId }: SendOptions,
): Promise<{ outcome: Outcome; durationMs: number; destination: Destination }> {
  const { config, log, send } = deps;
  const began = performance.now();
  const listener = leased.now;
  const destination = new Destination(deps, listener, { accountId });
  const answerStep = answerStepOf(taken);
  const leaseMs = attemptLeaseMs(config, answerStep);
  const attempt = async () => {
    const outcome = await send(leased.opened, taken.vote, {
      destination,
      signal: stop,
      waitSignal: waitNoLonger,
      answerStep,
      confirmsVotes: confirmsVotes(listener),
      onRefusal: (refused, challenge) => leased.judgeRefusal(taken, refused, challenge),
      // Otherwise another worker could take the vote before the answer comes.
      mayWrite: (answerMs) => performance.now() - takenAt + answerMs < leaseMs,
    });
    const { proof } = destination;
    const { protocol, proven } = listener;
    return shownToOwner({ protocol, proven: proof ? withListenerProof(proven, proof) : proven }, outcome);
  };
  const outcome = await attempt().catch((error: unknown) => {
    log.error({ event: 'delivery.our_fault', voteId: taken.vote._id.toString(), error: String(error) });
    return ourFault(error);
  });
  return { outcome, durationMs: performance.now() - began, destination };
}

/** Other messages than that of an `UnsealError` may contain a secret. */
export function ourFault(error: unknown): Outcome {
  const detail = error instanceof UnsealError ? { detail: error.message } : {};
  return { ...outcome('our-fault', 'none'), ...detail };
}

/** `log` adds server, listener and job. */
export function logOutcome(log: Logger, taken: Taken, outcome: Outcome, durationMs: number): void {
  const { vote, attempt } = taken;
  const voteId = vote._id.toString();
  const { code } = outcome;
  const said = saidIn(outcome);
  log.info({
    event: 'delivery.attempt',
    voteId,
    attempt: vote.delivery.attemptCount,
    protocol: attempt.protocol,
    test: attempt.test,
    code,
    class: outcome.class,
    reached: outcome.reached,
    durationMs: Math.round(durationMs),
    ...traceField(vote.traceparent),
    ...said,
  });
  const state = givenUpAfter(taken, outcome);
  if (state) log.warn({ event: `vote.${state}`, voteId, code, ...said });
}
