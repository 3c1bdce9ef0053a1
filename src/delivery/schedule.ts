import { DAY, HOUR, MINUTE } from '../clock.ts';

/** A vote not delivered by then is failed; it can be resent by hand for `RESENDABLE_MS`. */
export const DELIVERY_EXPIRES_MS = 72 * HOUR;
export const RESENDABLE_MS = 30 * DAY;

/** After this many ambiguous ends a vote is unconfirmed: it may have arrived that often. */
export const MOST_AMBIGUOUS_ENDS = 3;

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
