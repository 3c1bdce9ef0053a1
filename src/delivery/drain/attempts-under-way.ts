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
import { answerStepOf, asAllowedNow, givenUpAfter, type Ready, type Taken } from './attempt-record.ts';
import type { DrainDeps, DrainOptions } from './drain.ts';
import { type LeasedListener, RENEW_MS } from './leased-listener.ts';
import { type Ended, recordWithRetries } from './record-outcomes.ts';
import { VotesToGiveBack } from './votes-to-give-back.ts';

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
  /** Taken votes that are not sent. */
  readonly #toGiveBack: VotesToGiveBack;
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

  /** Throws the first error of Tallyport itself in an attempt. */
  throwFault(): void {
    if (this.#error) throw this.#error;
  }

  /** Resolves when a taken vote is recorded or to be given back, or after `ms` milliseconds. */
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

  /** Has votes given back that may have been taken and are not sent. */
  addToGiveBack(votes: Ready[]): void {
    for (const ready of votes) this.#toGiveBack.add(ready);
  }

  /** Begins no more attempts, waits for the running ones while it renews the lease, and gives back the other votes. */
  async close(): Promise<void> {
    this.#closing = true;
    // Votes without a running attempt are not sent, so they need no slot.
    this.#sending.concurrency = Number.POSITIVE_INFINITY;
    while (this.#open.size > 0) {
      await within(RENEW_MS, Promise.all(this.#open)).catch(() => undefined);
      // When MongoDB is unavailable, the next iteration tries again; records of outcomes are retried.
      await this.#leased.renew().catch(() => false);
      // Now, not after the running attempts: the leases of these votes may expire before.
      await this.#toGiveBack.giveBack().catch(() => undefined);
    }
    await this.#toGiveBack.giveBackWithRetries(this.#options.waitNoLonger);
    this.throwFault();
  }

  /**
   * Gives back the votes that may not be sent any more, and all whose attempt has not begun: those are later in the queue
   * and would go out before them.
   */
  async giveBackUnsendable(): Promise<void> {
    while (this.#toGiveBack.size > 0) {
      // They are not sent, so they need no slot.
      this.#sending.concurrency = Number.POSITIVE_INFINITY;
      await this.#sending.onSizeLessThan(1);
      this.#sending.concurrency = MAX_CONCURRENT_ATTEMPTS;
      await this.#toGiveBack.giveBack();
    }
  }

  /** Keeps its slot until the next vote may be sent; `recorded` settles when the outcome of this one is recorded. */
  async #attempt(ready: Ready): Promise<{ recorded: Promise<void> } | undefined> {
    if (!this.#maySend(ready)) {
      this.#toGiveBack.add(ready);
      return undefined;
    }
    const { proven } = this.#leased.now;
    const options = { ...this.#options, accountId: this.#accountId };
    const end = await attemptDelivery(this.#deps, this.#leased, ready, options);
    const { durationMs, limited, proof } = end;
    const endedAt = Date.now();
    const taken = asAllowedNow(ready.taken, this.#leased.now);
    const outcome = this.#leased.judge(taken, end.outcome);
    if (outcome.code === 'outgoing-limited' && limited) {
      this.#toGiveBack.add(ready);
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
  #maySend({ taken, claimedAt }: Ready): boolean {
    if (this.#closing || this.#error || this.#options.stop.aborted || this.#leased.isLost) return false;
    // If a vote is given back, the votes after it are given back too, to preserve their order.
    if (this.#toGiveBack.size > 0) return false;
    // The attempt needs enough of its lease: the listener may have become slow since the taking.
    if (performance.now() - claimedAt > this.#deps.config.LEASE_MS / 2) return false;
    const { limited, revision, answerStep } = this.#leased.now;
    // The listener has become slow since the taking: it is waited for longer, which needs a longer lease.
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
 * Makes one attempt to deliver a taken vote. An internal error is an outcome too; never throws.
 *
 * @param accountId - the owner of the listener's server; null when it has none
 */
async function attemptDelivery(
  deps: Pick<DrainDeps, 'config' | 'log' | 'send' | 'rateLimits' | 'clock'>,
  leased: LeasedListener,
  { taken, claimedAt }: Ready,
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
      // A process that was suspended and resumed must not send votes that another worker has taken over.
      mayWrite: (answerMs) => performance.now() - claimedAt + answerMs < leaseMs,
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

/** The outcome for an internal error. It contains only texts that are known to contain no secret. */
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
