import { DAY, HOUR, MINUTE } from '../platform/clock.ts';

/** A vote not delivered by then is failed; it can be resent by hand for `RESENDABLE_MS`. */
export const DELIVERY_EXPIRES_MS = 72 * HOUR;
export const RESENDABLE_MS = 30 * DAY;

/** After this many ambiguous ends a vote is unconfirmed, unless its owner chose fewer: it may have arrived that often. */
export const MOST_SENDINGS = 3;

/** How often a vote without an answer is sent at most, as its listener's owner or an attempt's record has it. */
export function mostSendings({ maxSendings }: { maxSendings?: number | null | undefined }): number {
  return maxSendings ?? MOST_SENDINGS;
}

/** How much longer the answer is waited for after so many ambiguous ends: 5 s, 15 s, 30 s. */
const ANSWER_FACTORS = [1, 3, 6] as const;
export const LAST_ANSWER_STEP = 2;

/**
 * How long an attempt waits for the answer, in milliseconds.
 *
 * @param timeoutMs - `LISTENER_TIMEOUT_MS`
 * @param step - ambiguous ends so far; the last deadline goes on for ever
 */
export function answerTimeoutMs(timeoutMs: number, step: number): number {
  return timeoutMs * (ANSWER_FACTORS[step] ?? ANSWER_FACTORS[LAST_ANSWER_STEP]);
}

/**
 * How long an attempt's lease lasts, in milliseconds: `LEASE_MS`, and as much longer as its answer is waited for.
 */
export function attemptLeaseMs(
  { LEASE_MS, LISTENER_TIMEOUT_MS }: { LEASE_MS: number; LISTENER_TIMEOUT_MS: number },
  step: number,
): number {
  return LEASE_MS + answerTimeoutMs(LISTENER_TIMEOUT_MS, step) - LISTENER_TIMEOUT_MS;
}

/** Failures in a row that make a listener unreachable. */
export const BREAKER_THRESHOLD = 3;

/** Votes refused one by one, in a row, that make it a fault of configuration. */
export const VOTE_FAULT_THRESHOLD = 5;

/** Votes under way at once to one listener. */
export const MOST_AT_ONCE = 4;

/** Retry times vary by this much both ways, so that many votes do not come back in one moment. */
const JITTER = 0.2;

/**
 * How long to wait before the attempt after `step` used-up steps: `schedule[step]` ± 20 %; the last entry goes
 * on for ever.
 *
 * @param schedule - in milliseconds, from `DELIVERY_SCHEDULE` or `BREAKER_SCHEDULE`
 * @param random - 0 to 1
 */
export function delayAt(schedule: readonly number[], step: number, random = Math.random()): number {
  const delay = schedule[Math.min(step, schedule.length - 1)] ?? 10 * MINUTE;
  return Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}

/** A longer name that a listener refuses is its player's doing: no game has names of more UTF-16 units (Minecraft). */
export const LONGEST_USUAL_NAME = 16;
