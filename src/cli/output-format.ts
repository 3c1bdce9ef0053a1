import { getSystemErrorMessage } from 'node:util';
import { DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts';

/** `text` with a capital first letter. A full stop is added, unless `text` ends with one of `.!?”)`. */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?”)]$/.test(begun) ? begun : `${begun}.`;
}

/** The message without error code and system call: `no space left on device`. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { errno, message } = error as NodeJS.ErrnoException;
  return errno === undefined ? message : getSystemErrorMessage(errno);
}

/** `1 vote`, `2 votes`. */
export function countWithNoun(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `2026-11-21T08:00:00Z` */
export function utc(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}

const STEPS: [number, Intl.RelativeTimeFormatUnit][] = [
  [365 * DAY, 'year'],
  [30 * DAY, 'month'],
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
  [SECOND, 'second'],
];

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** `3 minutes ago`, `in 2 hours`, `just now`. */
export function timeDistance(at: Date, now: Date): string {
  const distance = at.getTime() - now.getTime();
  for (const [size, unit] of STEPS) {
    // From 95 % of a unit on, this unit is used: 59 minutes and 59 seconds are "1 hour" and not "60 minutes".
    if (Math.abs(distance) >= 0.95 * size) return RELATIVE.format(Math.round(distance / size), unit);
  }
  return 'just now';
}

/** `2026-11-21T08:00:00Z (3 minutes ago)`; `-` for none. */
export function when(at: Date | null | undefined, now: Date): string {
  return at ? `${utc(at)} (${timeDistance(at, now)})` : '-';
}

export function iso(at: Date | null | undefined): string | null {
  return at?.toISOString() ?? null;
}

/** `230 ms`, `5.2 s`. */
export function span(ms: number): string {
  return ms < SECOND ? `${ms} ms` : `${(ms / SECOND).toFixed(1)} s`;
}
