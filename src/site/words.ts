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

/** `21 Nov`, of days whose year is clear. */
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

/** `1 vote`, `2 votes`; `many` where adding an s does not do. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A moment in a sentence: `21 Nov 2026, 14:02 UTC`. */
export function timeText(at: Date): string {
  return `${moment.format(at)} UTC`;
}

/** The same for users and for machines. */
export function time(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${timeText(at)}</time>`;
}

/** The same to the second, where several things happened in one minute. */
export function exactTime(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${exactly.format(at)} UTC</time>`;
}

/** A UTC day: `21 Nov 2026`. */
export function day(at: Date): Html {
  return html`<time datetime="${at.toISOString().slice(0, 10)}">${dayOnly.format(at)}</time>`;
}

/** How long ago something was, or how soon it will be: `3 minutes ago`, `in 2 hours`, `just now`. */
export function relative(at: Date, now: Date): string {
  const ms = at.getTime() - now.getTime();
  if (Math.abs(ms) < 5 * SECOND) return ms > 0 ? 'in a moment' : 'just now';
  return ms > 0 ? `in ${duration(ms)}` : `${duration(-ms)} ago`;
}

/** The same, with the whole moment for whoever asks. */
export function timeAgo(at: Date, now: Date): Html {
  return html`<time datetime="${at.toISOString()}" title="${moment.format(at)} UTC">${relative(at, now)}</time>`;
}

const UNITS = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
  [SECOND, 'second'],
] as const;

/** `3 minutes`; in its largest unit, rounded to the nearest. */
export function duration(ms: number): string {
  for (const [unit, name] of UNITS) if (ms >= unit) return counted(Math.round(ms / unit), name);
  return `${count(Math.round(ms))} ms`;
}
