import { TallyportError } from './errors.ts';
import type { SettleRequest, TakenVotes, TakeRequest } from './generated/types.gen.ts';
import { pause } from './retrying-fetch.ts';

/** A vote as the API answers it. */
type Taken = TakenVotes['deliveries'][number];

/** The result of a vote, as the API takes it. */
export type DeliveryResult = SettleRequest['results'][number];

/** What became of a vote. */
type Outcome = DeliveryResult['outcome'];

/** A vote that was taken. Without a word, the end of the loop's body means `delivered`. */
export type Delivery = Omit<Taken, 'lease' | 'lease_seconds_left'> & {
  /** Aborted when the lease ends: from then on the vote may be handed out again. */
  signal: AbortSignal;
  /** It was handed to a plugin that confirms nothing. */
  sent(): void;
  /** It may have been handed over. */
  unknown(reason?: string): void;
  /** It was not handed over; it comes again by the listing's schedule. */
  retry(reason?: string): void;
  /** It can never be handed over; the owner reads the reason. */
  failed(reason?: string): void;
  /** It was handed over. Only needed before `break`. */
  delivered(): void;
};

/** How votes are taken. */
export type TakeOptions = {
  /** Ends the loop; a vote that is in the loop's body is still settled. */
  signal?: AbortSignal | undefined;
  /** The most votes of one call, 1 to 100; 20 by default. Those not begun after half of the lease go back. */
  max?: number;
  /** How long a call waits for a vote, 0 to 30 s; 25 by default. */
  wait_seconds?: number;
  /** How long the votes are yours, 10 to 300 s; 60 by default. */
  lease_seconds?: number;
};

/** The two calls, each with its own retries. */
export type DeliveryCalls = {
  take(body: TakeRequest, signal: AbortSignal): Promise<TakenVotes>;
  settle(results: DeliveryResult[]): Promise<unknown>;
  backoff_ms: number;
};

const LONGEST_BACKOFF_MS = 60_000;
/** The wait after an empty answer that came at once: the listener is paused, or the listing is stopping. */
const IDLE_MS = 5_000;
const LONGEST_REASON = 200;
/** A vote begins while at least this share of its lease is left; otherwise it goes back, and comes again. */
const LEAST_SHARE = 0.5;
const HALF_CHARACTER = /\p{Surrogate}/gu;

/**
 * Takes votes as long as the loop runs, and settles each when the loop's body ends.
 *
 * @throws {TallyportError} for an answer that another try does not change: a wrong token, a listener that does not fetch
 */
export async function* takeDeliveries(
  calls: DeliveryCalls,
  { signal = new AbortController().signal, max = 20, wait_seconds = 25, lease_seconds = 60 }: TakeOptions,
): AsyncGenerator<Delivery, void, void> {
  while (!signal.aborted) {
    const begun = performance.now();
    const body = { max, wait_seconds, lease_seconds, request_id: crypto.randomUUID() };
    const answer = await untilAnswered(calls, signal, () => calls.take(body, signal));
    if (!answer) return;
    const { deliveries } = answer;
    const isEarly = performance.now() - begun < Math.min(IDLE_MS, wait_seconds * 1_000);
    if (deliveries.length === 0 && (isEarly || wait_seconds === 0)) await waited(IDLE_MS, signal);
    yield* eachOf(calls, deliveries, signal);
  }
}

async function* eachOf(
  calls: DeliveryCalls,
  deliveries: Taken[],
  signal: AbortSignal,
): AsyncGenerator<Delivery, void, void> {
  const gotAt = performance.now();
  const open = [...deliveries];
  let whyBack = 'The program stopped.';
  try {
    for (let taken = open.shift(); taken; taken = open.shift()) {
      const leaseMs = taken.lease_seconds_left * 1_000;
      const leftMs = leaseMs - (performance.now() - gotAt);
      // Another taker may have it by now.
      if (leftMs <= 0) continue;
      const isFirst = taken === deliveries[0];
      const isLate = !isFirst && leftMs < leaseMs * LEAST_SHARE;
      if (isLate) whyBack = 'The votes before it took too long.';
      if (isLate || signal.aborted) {
        open.unshift(taken);
        return;
      }
      yield* settled(calls, taken, leftMs);
    }
  } finally {
    // These votes never reached the loop's body.
    if (open.length > 0) await settle(calls, open, 'retry', whyBack).catch(() => undefined);
  }
}

/** Yields one vote and settles it. If the loop is left in its body without a word, nobody knows whether it arrived. */
async function* settled(
  calls: DeliveryCalls,
  taken: Taken,
  leftMs: number,
): AsyncGenerator<Delivery, void, void> {
  let told: { outcome: Outcome; reason?: string | undefined } | undefined;
  let isEnded = false;
  const tell = (outcome: Outcome) => (reason?: string) => {
    told = { outcome, reason };
  };
  const { lease: _, lease_seconds_left: __, ...vote } = taken;
  try {
    yield {
      ...vote,
      signal: AbortSignal.timeout(Math.ceil(leftMs)),
      sent: () => tell('sent')(),
      delivered: () => tell('delivered')(),
      unknown: tell('unknown'),
      retry: tell('retry'),
      failed: tell('failed'),
    };
    isEnded = true;
  } finally {
    const { outcome, reason } = told ?? { outcome: isEnded ? 'delivered' : 'unknown' };
    await settle(calls, [taken], outcome, reason);
  }
}

/**
 * Reports one result of some votes until the listing has it. A result that it refuses is over: the vote comes again, or
 * is settled.
 */
async function settle(
  calls: DeliveryCalls,
  votes: Taken[],
  outcome: Outcome,
  reason?: string,
): Promise<void> {
  const words = reason && [...reason].slice(0, LONGEST_REASON).join('').replace(HALF_CHARACTER, '\ufffd');
  const results = votes.map(({ vote_id, lease }) => ({
    vote_id,
    lease,
    outcome,
    ...(words ? { reason: words } : {}),
  }));
  // After twice the lease nobody waits for it any more.
  const lease = Math.max(...votes.map(({ lease_seconds_left }) => lease_seconds_left));
  const giveUp = AbortSignal.timeout((lease + 10) * 2_000);
  await untilAnswered(calls, giveUp, () => calls.settle(results));
}

/**
 * Calls until there is an answer, with a growing backoff, or as long as the listing asks to wait.
 *
 * @returns undefined if `signal` was aborted first
 */
async function untilAnswered<T>(
  { backoff_ms }: DeliveryCalls,
  signal: AbortSignal,
  call: () => Promise<T>,
): Promise<T | undefined> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      return await call();
    } catch (error) {
      if (signal.aborted) return undefined;
      const wait = waitAfter(error, Math.min(backoff_ms * 2 ** failures, LONGEST_BACKOFF_MS));
      if (wait === null) throw error;
      await waited(wait, signal);
    }
  }
  return undefined;
}

/** How long to wait before the same call is made again; null if that would change nothing. */
function waitAfter(error: unknown, backoff: number): number | null {
  if (!(error instanceof TallyportError)) return null;
  const spread = backoff * (0.5 + Math.random() / 2);
  const { status, retry_after = 0 } = error;
  if (status !== 0 && status !== 429 && status < 500) return null;
  return Math.max(retry_after, status === 429 ? 1 : 0) * 1_000 + spread;
}

/** Resolves after `ms` milliseconds, or when `signal` is aborted. */
async function waited(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, signal).catch(() => undefined);
}
