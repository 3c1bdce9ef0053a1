/** Where the present time comes from. Features take one, so that a test can move it. */
export type Clock = {
  /** The present moment. */
  now(): Date;
};

/**
 * The machine's clock, moved by `offsetMs` milliseconds (0 outside tests, see `CLOCK_OFFSET_MS` in
 * config.ts).
 */
export function systemClock(offsetMs = 0): Clock {
  return { now: () => new Date(Date.now() + offsetMs) };
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** `date` moved by `ms` milliseconds; `date` itself stays. */
export function after(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}
