import { LRUCache } from 'lru-cache';
import { MINUTE } from '../platform/clock.ts';

/** By the browser's clock: from 22:00 until 8:00 nothing is sent. */
export const SILENT_FROM_HOUR = 22;
export const SILENT_UNTIL_HOUR = 8;

/** All time zones of today differ from UTC by multiples of it, so a full hour is at one of its steps. */
const STEP_MS = 15 * MINUTE;

/** The name of a time zone in its usual spelling; UTC if Node does not know it. */
export function knownTimeZone(name: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}

/** `at`, or the end of the silent hours in which it is. A change to or from summer time is heeded. */
export function afterSilence(at: Date, timeZone: string): Date {
  return firstTime(at, timeZone, (hour) => !isSilent(hour));
}

/** When the next silent hours begin; `at` if it is in silent hours. */
export function nextSilence(at: Date, timeZone: string): Date {
  return firstTime(at, timeZone, isSilent);
}

function isSilent(hour: number): boolean {
  return hour >= SILENT_FROM_HOUR || hour < SILENT_UNTIL_HOUR;
}

/** By time zone: making one takes longer than using it, and some 40 KB of memory that V8 does not count. */
const hoursIn = new LRUCache<string, Intl.DateTimeFormat>({
  max: 500,
  memoMethod: (timeZone) => new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' }),
});

function firstTime(at: Date, timeZone: string, fits: (hour: number) => boolean): Date {
  const format = hoursIn.memo(timeZone);
  for (let time = at; ; time = new Date((Math.floor(time.getTime() / STEP_MS) + 1) * STEP_MS))
    if (fits(Number(format.format(time)))) return time;
}
