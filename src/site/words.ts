import { html } from 'hono/html';
import { DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import type { Html } from './html.ts';

const counting = new Intl.NumberFormat('en-GB');
const decimals = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 });
const moment = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});
const exactly = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
});
const dayOnly = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

const dayOfMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** A day without its year: `21 Nov`. */
export function shortDay(at: Date): string {
  return dayOfMonth.format(at);
}

/** `1,204`. */
export function count(value: number): string {
  return counting.format(value);
}

/** `12.5`. */
export function decimal(value: number): string {
  return decimals.format(value);
}

/** `1 vote`, `2 votes`; `many` is the plural unless it only adds an s. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A time as text: `21 Nov 2026, 14:02 UTC`. */
export function timeText(at: Date): string {
  return `${moment.format(at)} UTC`;
}

/** The same as a `time` element. */
export function time(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${timeText(at)}</time>`;
}

/** The same; a script shows it in the visitor's time zone (scripts/page.js). */
export function localTime(at: Date): Html {
  return html`<time datetime="${at.toISOString()}" data-local>${timeText(at)}</time>`;
}

/** The same as `time` to the second. */
export function exactTime(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${exactly.format(at)} UTC</time>`;
}

/** A UTC day as text: `21 Nov 2026`. */
export function dayText(at: Date): string {
  return dayOnly.format(at);
}

/** The same as a `time` element. */
export function day(at: Date): Html {
  return html`<time datetime="${at.toISOString().slice(0, 10)}">${dayText(at)}</time>`;
}

/** A time relative to now: `3 minutes ago`, `in 2 hours`, `just now`. */
export function relative(at: Date, now: Date): string {
  const ms = at.getTime() - now.getTime();
  if (Math.abs(ms) < 5 * SECOND) return ms > 0 ? 'in a moment' : 'just now';
  return ms > 0 ? `in ${duration(ms)}` : `${duration(-ms)} ago`;
}

/** The same, with the full time as a tooltip. */
export function timeAgo(at: Date, now: Date): Html {
  return html`<time datetime="${at.toISOString()}" title="${moment.format(at)} UTC">${relative(at, now)}</time>`;
}

const UNITS = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
  [SECOND, 'second'],
] as const;

/** A duration in its largest unit, rounded: `3 minutes`. */
export function duration(ms: number): string {
  for (const [unit, name] of UNITS) if (ms >= unit) return counted(Math.round(ms / unit), name);
  return `${count(Math.round(ms))} ms`;
}
