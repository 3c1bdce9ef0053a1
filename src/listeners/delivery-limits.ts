import { DAY, HOUR, MINUTE } from '../platform/clock.ts';

/** A vote that is not delivered within this time is failed; it can be resent by hand for `RESENDABLE_MS`. */
export const DELIVERY_EXPIRES_MS = 72 * HOUR;
export const RESENDABLE_MS = 30 * DAY;

/** After this many ambiguous outcomes a vote is unconfirmed, unless its owner chose fewer: each may have arrived. */
export const MAX_SENDINGS = 3;

/** How often a vote without an answer is sent at most, by the listener's setting or an attempt's record. */
export function maxSendingsOf({ maxSendings }: { maxSendings?: number | null | undefined }): number {
  return maxSendings ?? MAX_SENDINGS;
}

/** The answer deadline grows with the number of ambiguous outcomes: 5 s, 15 s, 30 s. */
const ANSWER_FACTORS = [1, 3, 6] as const;
export const LAST_ANSWER_STEP = 2;

/**
 * How long an attempt waits for the answer, in milliseconds.
 *
 * @param timeoutMs - `LISTENER_TIMEOUT_MS`
 * @param step - ambiguous outcomes so far; the last deadline applies to all further ones
 */
export function answerTimeoutMs(timeoutMs: number, step: number): number {
  return timeoutMs * (ANSWER_FACTORS[step] ?? ANSWER_FACTORS[LAST_ANSWER_STEP]);
}

/**
 * The first step at which an answer would have come in time.
 *
 * @param timeoutMs - `LISTENER_TIMEOUT_MS`
 * @param neededMs - how long the attempt took; `LAST_ANSWER_STEP` if that is longer than every deadline
 */
export function answerStepFor(timeoutMs: number, neededMs: number): number {
  const step = ANSWER_FACTORS.findIndex((factor) => neededMs <= factor * timeoutMs);
  return step === -1 ? LAST_ANSWER_STEP : step;
}

/**
 * How long an attempt's lease lasts, in milliseconds: `LEASE_MS`, plus the additional time to wait for its answer.
 */
export function attemptLeaseMs(
  { LEASE_MS, LISTENER_TIMEOUT_MS }: { LEASE_MS: number; LISTENER_TIMEOUT_MS: number },
  step: number,
): number {
  return LEASE_MS + answerTimeoutMs(LISTENER_TIMEOUT_MS, step) - LISTENER_TIMEOUT_MS;
}

/** Consecutive failures after which a listener is unreachable. */
export const BREAKER_THRESHOLD = 3;

/** Consecutive refused votes after which the error is considered one of configuration. */
export const VOTE_FAULT_THRESHOLD = 5;

/** How many votes are sent to one listener at once. */
export const MAX_CONCURRENT_ATTEMPTS = 4;

/** Retry times vary by this much in both directions (jitter), so that many votes are not retried at the same moment. */
const JITTER = 0.2;

/**
 * How long to wait before the attempt after `step` used steps: `schedule[step]` ± 20 %; the last entry applies to all
 * further steps.
 *
 * @param schedule - in milliseconds, from `DELIVERY_SCHEDULE` or `BREAKER_SCHEDULE`
 * @param random - 0 to 1
 */
export function delayAt(schedule: readonly number[], step: number, random = Math.random()): number {
  const delay = schedule[Math.min(step, schedule.length - 1)] ?? 10 * MINUTE;
  return Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}

/** When a listener refuses a longer name, the name is the reason: no game has names of more UTF-16 units (Minecraft). */
export const LONGEST_USUAL_NAME = 16;
