import PQueue from 'p-queue';
import { attemptLeaseMs, MAX_CONCURRENT_ATTEMPTS } from '../../listeners/delivery-limits.ts';
import type { ListenerProof } from '../../listeners/listener.ts';
import { confirmsVotes, listenerState } from '../../listeners/listener-state.ts';
import type { Outcome } from '../../listeners/outcomes.ts';
import { outcome } from '../../listeners/outcomes.ts';
import { within } from '../../platform/deadline.ts';
import type { Limited } from '../../platform/limits/outgoing-limit.ts';
import type { Logger } from '../../platform/log.ts';
import { UnsealError } from '../../platform/secrets.ts';
import { traceField } from '../../platform/tracing/tracing.ts';
import { Destination, shownToOwner, withChallenge } from '../destination.ts';
import { asAllowedNow, givenUpAfter } from './after-attempt.ts';
import { answerStepOf, type Ready, type Taken } from './attempt-record.ts';
import type { DrainDeps, DrainOptions } from './drain.ts';
import { type LeasedListener, RENEW_MS } from './leased-listener.ts';
import { type Ended, recordWithRetries } from './record-outcomes.ts';
import { VotesToGiveBack } from './votes-to-give-back.ts';

/** Logs and counts the outcome of an attempt and applies it to the listener's state. */
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
  /** Taken votes whose outcome is not recorded and that are not given back yet. */
  readonly #open = new Set<Promise<void>>();
  /** Taken votes that will not be sent. */
  readonly #toGiveBack: VotesToGiveBack;
  #closing = false;
  /** Resolves when a vote leaves `#open`. */
  #change = Promise.withResolvers<void>();
  #error: unknown = null;

  /** @param accountId - the owner of the listener's server; null when it has none */
  constructor(deps: DrainDeps, leased: LeasedListener, options: DrainOptions, accountId: string | null) {
    this.#deps = deps;
    this.#leased = leased;
    this.#options = options;
    this.#accountId = accountId;
    this.#toGiveBack = new VotesToGiveBack(deps, leased);
  }

  /** Taken votes whose outcome is not recorded yet. */
  get open(): number {
    return this.#open.size;
  }

  /** Taken votes whose attempt has not begun or not ended. */
  get unfinished(): number {
    return this.#sending.size + this.#sending.pending;
  }

  /** Throws the first internal error of an attempt, if there was one. */
  throwFault(): void {
    if (this.#error) throw this.#error;
  }

  /**
   * Resolves when the outcome of a taken vote is recorded or the vote will be given back, at the latest after `ms`
   * milliseconds.
   */
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

  /** Adds votes that may have been taken and will not be sent, so that they are given back. */
  addToGiveBack(votes: Ready[]): void {
    for (const ready of votes) this.#toGiveBack.add(ready);
  }

  /** Begins no more attempts, waits for the running ones while it renews the lease, and gives back the other votes. */
  async close(): Promise<void> {
    this.#closing = true;
    // The remaining votes are not sent, so they need no slot.
    this.#sending.concurrency = Number.POSITIVE_INFINITY;
    while (this.#open.size > 0) {
      await within(RENEW_MS, Promise.all(this.#open)).catch(() => undefined);
      // If MongoDB is unavailable, the next iteration renews again. Writes of outcomes have their own retries.
      await this.#leased.renew().catch(() => false);
      // Votes are given back during the running attempts: their leases may expire before these end.
      await this.#toGiveBack.giveBack().catch(() => undefined);
    }
    await this.#toGiveBack.giveBackWithRetries(this.#options.waitNoLonger);
    this.throwFault();
  }

  /**
   * Gives back the votes that may not be sent any more. Votes after them in the queue whose attempt has not begun are
   * given back too; otherwise they would go out first.
   */
  async giveBackUnsendable(): Promise<void> {
    while (this.#toGiveBack.size > 0) {
      // Votes that are given back are not sent, so they need no slot.
      this.#sending.concurrency = Number.POSITIVE_INFINITY;
      await this.#sending.onSizeLessThan(1);
      this.#sending.concurrency = MAX_CONCURRENT_ATTEMPTS;
      await this.#toGiveBack.giveBack();
    }
  }

  /**
   * Makes an attempt. The returned promise resolves when the slot is free for the next vote; `recorded` resolves when
   * the outcome is recorded.
   */
  async #attempt(ready: Ready): Promise<{ recorded: Promise<void> } | undefined> {
    if (!this.#maySend(ready)) {
      this.#toGiveBack.add(ready);
      return undefined;
    }
    const { proven } = this.#leased.now;
    const options = { ...this.#options, accountId: this.#accountId };
    const result = await attemptDelivery(this.#deps, this.#leased, ready, options);
    const { durationMs, limited, proof } = result;
    const endedAt = Date.now();
    const taken = asAllowedNow(ready.taken, this.#leased.now);
    const outcome = this.#leased.judge(taken, result.outcome);
    if (outcome.code === 'outgoing-limited' && limited) {
      this.#toGiveBack.add(ready);
      // If another attempt has proven the address meanwhile, the limit no longer applies, and the vote is sent again
      // at once.
      if (this.#leased.now.proven !== proven) return undefined;
      await this.#leased.limit(limited);
      this.#deps.log.info({ event: 'delivery.limited', by: limited.by, until: limited.until });
      return undefined;
    }
    // The proof counts in memory before it is stored: the next vote is sent as to a proven listener.
    const isProven = proof !== null && this.#leased.prove(taken, proof);
    const recorded = this.#record({ taken, outcome, durationMs, endedAt }, isProven);
    if (outcome.class === 'delivered' && !taken.attempt.test) return { recorded };
    // Any other outcome may change the listener's state, which decides whether the next vote may be sent.
    await recorded;
    return undefined;
  }

  /** Records an outcome and, if it counts, applies it to the listener's state. */
  async #record(ended: Ended, isProven: boolean): Promise<void> {
    const { waitNoLonger } = this.#options;
    const counts = await recordWithRetries(this.#deps, ended, waitNoLonger);
    if (counts) await onOutcome(this.#deps, this.#leased, ended);
    if (isProven) await this.#leased.storeChallenges();
  }

  /** Whether a taken vote may still be sent: the drain continues and the listener is unchanged. */
  #maySend({ taken, takenAt }: Ready): boolean {
    if (this.#closing || this.#error || this.#options.stop.aborted || this.#leased.isLost) return false;
    // If one vote is given back, all votes after it are given back too, which preserves their order.
    if (this.#toGiveBack.size > 0) return false;
    // If half of the lease has passed, the attempt might not end before it expires.
    if (performance.now() - takenAt > this.#deps.config.LEASE_MS / 2) return false;
    const { limited, revision, answerStep } = this.#leased.now;
    // The listener has become slower since the vote was taken. The wait for its answer is now longer and needs a
    // longer lease.
    if (answerStepOf(taken) < (answerStep ?? 0)) return false;
    if (limited && this.#deps.clock.now() < limited.until) return false;
    const { attempt } = taken;
    const state = listenerState(this.#leased.now);
    const isUnchanged = attempt.test ? state === 'unreachable' : state === 'active' || state === 'unverified';
    return isUnchanged && attempt.revision === revision;
  }
}

/** The outcome of an attempt, and what it found out about its destination. */
type Delivered = {
  outcome: Outcome;
  durationMs: number;
  limited: Limited | null;
  proof: ListenerProof | null;
};

/**
 * Makes one attempt to deliver a taken vote. Never throws: an internal error becomes the outcome `our-fault`.
 *
 * @param accountId - the owner of the listener's server; null when it has none
 */
async function attemptDelivery(
  deps: Pick<DrainDeps, 'config' | 'log' | 'send' | 'rateLimits' | 'clock'>,
  leased: LeasedListener,
  { taken, takenAt }: Ready,
  {
    stop,
    waitNoLonger,
    accountId,
  }: Pick<DrainOptions, 'stop' | 'waitNoLonger'> & { accountId: string | null },
): Promise<Delivered> {
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
      // If this process was suspended and its lease has expired, another worker may have taken the vote.
      mayWrite: (answerMs) => performance.now() - takenAt + answerMs < leaseMs,
    });
    const { proof } = destination;
    const { protocol, proven } = listener;
    return shownToOwner({ protocol, proven: proof ? withChallenge(proven, proof) : proven }, outcome);
  };
  const outcome = await attempt().catch((error: unknown) => {
    log.error({ event: 'delivery.our_fault', voteId: taken.vote._id.toString(), error: String(error) });
    return ourFault(error);
  });
  const { limited, proof } = destination;
  return { outcome, durationMs: performance.now() - began, limited, proof };
}

/** The outcome for an internal error. Its detail is set only for errors whose message contains no secret. */
export function ourFault(error: unknown): Outcome {
  const detail = error instanceof UnsealError ? { detail: error.message } : {};
  return { ...outcome('our-fault', 'none'), ...detail };
}

/**
 * Logs the outcome of an attempt, and whether its vote is given up.
 *
 * @param log - has the fields of server, listener and job
 */
export function logOutcome(log: Logger, taken: Taken, outcome: Outcome, durationMs: number): void {
  const { vote, attempt } = taken;
  const voteId = vote._id.toString();
  const { code } = outcome;
  const words = {
    ...(outcome.words ? { words: outcome.words } : {}),
    ...(outcome.detail ? { detail: outcome.detail } : {}),
  };
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
    ...words,
  });
  const state = givenUpAfter(taken, outcome);
  if (state) log.warn({ event: `vote.${state}`, voteId, code, ...words });
}
