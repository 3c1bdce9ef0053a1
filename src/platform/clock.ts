/** The source of the current time. Features get it as an argument, so that tests can set the time. */
export type Clock = {
  now(): Date;
};

/** `offsetMs` is 0 outside tests (`CLOCK_OFFSET_MS`). */
export function systemClock(offsetMs = 0): Clock {
  return { now: () => new Date(Date.now() + offsetMs) };
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export function after(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}
