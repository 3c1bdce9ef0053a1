import { DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts';

/** An undelivered vote expires after it was cast or last queued. A vote can be resent after it was cast. */
export const DELIVERY_EXPIRES_MS = 72 * HOUR;
export const RESENDABLE_MS = 30 * DAY;
export const DELIVERY_EXPIRES_HOURS = DELIVERY_EXPIRES_MS / HOUR;
export const RESENDABLE_DAYS = RESENDABLE_MS / DAY;

/** After this no vote is open any more: the last moment of a resend, and the whole time of its delivery. */
export const LONGEST_OPEN_MS = RESENDABLE_MS + DELIVERY_EXPIRES_MS;

/** How many ambiguous outcomes make a vote unconfirmed. Each may have been a delivery; owners can choose fewer. */
export const MAX_SENDINGS = 3;

/** How often a vote may be sent while no answer comes; with 1, an HTTP 5xx or 408 also ends its sendings. */
export function maxSendingsOf({ maxSendings }: { maxSendings?: number | null | undefined }): number {
  return maxSendings ?? MAX_SENDINGS;
}

/** Multiples of `LISTENER_TIMEOUT_MS`, by step. */
const ANSWER_FACTORS = [1, 3, 6] as const;
export const LAST_ANSWER_STEP = 2;

/** `step`: the vote's ambiguous outcomes so far or, if higher, the listener's step (`nextAnswerStep`). */
export function answerTimeoutMs(timeoutMs: number, step: number): number {
  return timeoutMs * (ANSWER_FACTORS[step] ?? ANSWER_FACTORS[LAST_ANSWER_STEP]);
}

/** The lowest step whose deadline would have been long enough, or the last one. */
export function answerStepFor(timeoutMs: number, neededMs: number): number {
  const step = ANSWER_FACTORS.findIndex((factor) => neededMs <= factor * timeoutMs);
  return step === -1 ? LAST_ANSWER_STEP : step;
}

/** `LEASE_MS`, plus the step's deadline minus that of step 0. */
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

/** To one listener; to a listener under test, only one. */
export const MAX_CONCURRENT_ATTEMPTS = 4;

/** Many votes must not be retried at the same moment. */
const JITTER = 0.2;

/** The delay in milliseconds before the next attempt: `schedule[step]`, or its last entry, ± 20 %. */
export function delayAt(schedule: readonly number[], step: number, random = Math.random()): number {
  const delay = schedule[Math.min(step, schedule.length - 1)] ?? 10 * MINUTE;
  return Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}

/** Minecraft's limit, in UTF-16 units. The refusal of a longer name is not counted. */
export const LONGEST_USUAL_NAME = 16;

/** A worker that has a listener's lease reads its settings again after this time. */
export const RENEW_MS = SECOND;
