import { DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts';

/**
 * An undelivered vote fails `DELIVERY_EXPIRES_MS` after it was cast or last put into the queue again. A vote can be
 * resent until `RESENDABLE_MS` after it was cast.
 */
export const DELIVERY_EXPIRES_MS = 72 * HOUR;
export const RESENDABLE_MS = 30 * DAY;
export const DELIVERY_EXPIRES_HOURS = DELIVERY_EXPIRES_MS / HOUR;
export const RESENDABLE_DAYS = RESENDABLE_MS / DAY;

/** After this time no vote is open any more: the last moment of a resend, and then the whole time of its delivery. */
export const LONGEST_OPEN_MS = RESENDABLE_MS + DELIVERY_EXPIRES_MS;

/** How many ambiguous outcomes make a vote unconfirmed. Each may have been a delivery; owners can choose fewer. */
export const MAX_SENDINGS = 3;

/**
 * How many times a vote may be sent while no answer comes; with 1, an HTTP 5xx or 408 also ends its sendings. Reads a
 * listener's settings or an attempt's record.
 */
export function maxSendingsOf({ maxSendings }: { maxSendings?: number | null | undefined }): number {
  return maxSendings ?? MAX_SENDINGS;
}

/** The deadline for an answer at each step, as multiples of `LISTENER_TIMEOUT_MS`. */
const ANSWER_FACTORS = [1, 3, 6] as const;
export const LAST_ANSWER_STEP = 2;

/**
 * How long an attempt waits for the answer, in milliseconds.
 *
 * @param timeoutMs - `LISTENER_TIMEOUT_MS`
 * @param step - the vote's ambiguous outcomes so far or, if higher, the listener's step (`nextAnswerStep`). After
 *   `LAST_ANSWER_STEP` the deadline no longer grows
 */
export function answerTimeoutMs(timeoutMs: number, step: number): number {
  return timeoutMs * (ANSWER_FACTORS[step] ?? ANSWER_FACTORS[LAST_ANSWER_STEP]);
}

/**
 * The lowest step whose deadline would have been long enough for an answer.
 *
 * @param timeoutMs - `LISTENER_TIMEOUT_MS`
 * @param neededMs - how long the answer took
 * @returns `LAST_ANSWER_STEP` if the answer took longer than every deadline
 */
export function answerStepFor(timeoutMs: number, neededMs: number): number {
  const step = ANSWER_FACTORS.findIndex((factor) => neededMs <= factor * timeoutMs);
  return step === -1 ? LAST_ANSWER_STEP : step;
}

/** How long an attempt's lease lasts, in milliseconds: `LEASE_MS`, plus the step's deadline minus that of step 0. */
export function attemptLeaseMs(
  { LEASE_MS, LISTENER_TIMEOUT_MS }: { LEASE_MS: number; LISTENER_TIMEOUT_MS: number },
  step: number,
): number {
  return LEASE_MS + answerTimeoutMs(LISTENER_TIMEOUT_MS, step) - LISTENER_TIMEOUT_MS;
}

/** After this many failures in a row a listener is unreachable. */
export const BREAKER_THRESHOLD = 3;

/** If a listener that has taken no vote refuses this many in a row, its settings are considered wrong. */
export const VOTE_FAULT_THRESHOLD = 5;

/** How many votes are sent to one listener at once; to a listener under test, only one. */
export const MAX_CONCURRENT_ATTEMPTS = 4;

/** Retry times vary randomly by up to this share, so that many votes are not retried at the same moment. */
const JITTER = 0.2;

/**
 * The delay before the next attempt, in milliseconds: `schedule[step]` ± 20 %. If `step` is beyond the end, the last
 * entry applies.
 *
 * @param schedule - delays in milliseconds, from `DELIVERY_SCHEDULE` or `BREAKER_SCHEDULE`
 * @param random - 0 to 1
 */
export function delayAt(schedule: readonly number[], step: number, random = Math.random()): number {
  const delay = schedule[Math.min(step, schedule.length - 1)] ?? 10 * MINUTE;
  return Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}

/** Minecraft's limit, in UTF-16 units. If a listener refuses a longer name, the refusal is not counted. */
export const LONGEST_USUAL_NAME = 16;

/** After this time a worker that has a listener's lease reads its settings again. */
export const RENEW_MS = SECOND;
