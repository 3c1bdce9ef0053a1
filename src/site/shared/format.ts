import type { StatusTimes } from '../../delivery/timeline/status-text.ts';
import { forEachLanguage, languageNow, localeOf } from '../../language/language.ts';
import { defineMessage, t } from '../../language/t.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts';
import { type Html, html } from './html.ts';

const DAY_PARTS = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const;
const MINUTE_PARTS = { ...DAY_PARTS, hour: '2-digit', minute: '2-digit' } as const;

const CLOCK_PARTS = { hour: '2-digit', minute: '2-digit' } as const;

function formatsOf(locale: string) {
  const percentSign = new Intl.NumberFormat(locale, { style: 'percent', numberingSystem: 'latn' });
  const unit = (unit: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 });
  const narrow = (unit: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'narrow' });
  return {
    count: new Intl.NumberFormat(locale),
    // English has a space here, as the International System of Units has it.
    percent: locale.startsWith('en') ? '1 %' : percentSign.format(0.01),
    decimal: new Intl.NumberFormat(locale, { maximumFractionDigits: 2 }),
    oneDecimal: new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
    minute: new Intl.DateTimeFormat(locale, MINUTE_PARTS),
    second: new Intl.DateTimeFormat(locale, { ...MINUTE_PARTS, second: '2-digit' }),
    day: new Intl.DateTimeFormat(locale, DAY_PARTS),
    dayOfMonth: new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
    hour: new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      timeZone: 'UTC',
    }),
    hourMinute: new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' }),
    weekday: new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }),
    relative: new Intl.RelativeTimeFormat(locale),
    timeOfDay: new Intl.DateTimeFormat(locale, { ...CLOCK_PARTS, second: '2-digit', timeZone: 'UTC' }),
    oneOf: new Intl.ListFormat(locale, { type: 'disjunction' }),
    durations: { day: unit('day'), hour: unit('hour'), minute: unit('minute'), second: unit('second') },
    lapses: { day: narrow('day'), hour: narrow('hour'), minute: narrow('minute'), second: narrow('second') },
  };
}

const formatsIn = forEachLanguage((language) => formatsOf(localeOf(language)));

const formats = () => formatsIn(languageNow());

/** `21 Nov`, of a UTC day. */
export function shortDay(at: Date): string {
  return formats().dayOfMonth.format(at);
}

export function shortTime(at: Date): string {
  return formats().hour.format(at);
}

/** `14:00`, in UTC. */
export function hourText(at: Date): string {
  return formats().hourMinute.format(at);
}

export function weekday(at: Date): string {
  return formats().weekday.format(at);
}

/** `failed, waiting or being sent` */
export function alternatives(words: string[]): string {
  return formats().oneOf.format(words);
}

export function count(value: number): string {
  return formats().count.format(value);
}

/** At most two decimals: `12.25`. */
export function decimal(value: number): string {
  return formats().decimal.format(value);
}

/** Exactly one decimal: `4.0`. */
export function oneDecimal(value: number): string {
  return formats().oneDecimal.format(value);
}

/** Sentences, because a language may have more forms of a noun than two. */
const COUNTED = {
  'older attempt': defineMessage('{n, plural, one {# older attempt} other {# older attempts}}'),
  favourite: defineMessage('{n, plural, one {# favourite} other {# favourites}}'),
  'new player': defineMessage('{n, plural, one {# new player} other {# new players}}'),
  player: defineMessage('{n, plural, one {# player} other {# players}}'),
  review: defineMessage('{n, plural, one {# review} other {# reviews}}'),
  server: defineMessage('{n, plural, one {# server} other {# servers}}'),
  star: defineMessage('{n, plural, one {# star} other {# stars}}'),
  time: defineMessage('{n, plural, one {# time} other {# times}}'),
  vote: defineMessage('{n, plural, one {# vote} other {# votes}}'),
  'vote in a row': defineMessage('{n, plural, one {# vote in a row} other {# votes in a row}}'),
};

/** `1,234 votes` */
export function counted(n: number, noun: keyof typeof COUNTED): string {
  return t(COUNTED[noun], { n });
}

/** `votes`, for a page that shows the number itself. */
export function unit(n: number, noun: keyof typeof COUNTED): string {
  return counted(n, noun).replace(count(n), '').trim();
}

/** `21 Nov 2026, 14:02 UTC` */
export function timeText(at: Date): string {
  return `${formats().minute.format(at)} UTC`;
}

export function time(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${timeText(at)}</time>`;
}

/** A script converts it to the visitor's time zone (scripts/page.js). */
export function localTime(at: Date): Html {
  return html`<time datetime="${at.toISOString()}" data-local>${timeText(at)}</time>`;
}

export function exactTime(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${formats().second.format(at)} UTC</time>`;
}

/** `14:02:07`, of UTC. */
export function clockTime(at: Date): string {
  return formats().timeOfDay.format(at);
}

export function dayText(at: Date): string {
  return formats().day.format(at);
}

export function day(at: Date): Html {
  return html`<time datetime="${at.toISOString().slice(0, 10)}">${dayText(at)}</time>`;
}

/** `3 minutes ago`, `in 2 hours`, `just now` */
export function relative(at: Date, now: Date): string {
  const ms = at.getTime() - now.getTime();
  if (Math.abs(ms) < 5 * SECOND) return ms > 0 ? t('in a moment') : t('just now');
  const { value, unit } = inLargestUnit(Math.abs(ms));
  return formats().relative.format(ms > 0 ? value : -value, unit);
}

export function timeAgo(at: Date, now: Date): Html {
  return html`<time datetime="${at.toISOString()}" title="${timeText(at)}">${relative(at, now)}</time>`;
}

const SHORT_UNITS = { day: 'd', hour: 'h', minute: 'min', second: 's' } as const;

/** `6 min`, `2 h`, `1 d`: for a narrow column of the admin area. */
export function shortAge(at: Date, now: Date): Html {
  const { value, unit } = inLargestUnit(Math.max(0, now.getTime() - at.getTime()));
  const text = `${count(value)} ${SHORT_UNITS[unit]}`;
  return html`<time datetime="${at.toISOString()}" title="${timeText(at)}">${text}</time>`;
}

const UNITS = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
] as const;

function inLargestUnit(ms: number) {
  const [length, unit] = UNITS.find(([length]) => ms >= length) ?? ([SECOND, 'second'] as const);
  return { value: Math.round(ms / length), unit };
}

export function pageTimes(now: Date): StatusTimes {
  return { on: timeText, next: (at) => relative(at, now) };
}

/** `340 ms`; from a second `1.4 s`; from a minute in its largest unit, such as `3 minutes`. */
export function measured(ms: number): string {
  return ms < SECOND || ms >= MINUTE ? duration(ms) : `${formats().decimal.format(round1(ms / SECOND))} s`;
}

const round1 = (value: number) => Math.round(10 * value) / 10;

export function percent(share: number): string {
  return percentOf(decimal(Math.floor(1_000 * share) / 10));
}

/** `99.4 %`; Turkish has the sign first. `number` is of `decimal` or `oneDecimal`. */
export function percentOf(number: string): string {
  return formats().percent.replace('1', number);
}

export function duration(ms: number): string {
  if (ms < SECOND) return `${count(Math.round(ms))} ms`;
  const { value, unit } = inLargestUnit(ms);
  return formats().durations[unit].format(value);
}

/** For logs, in at most two units: `340 ms`, `4.2 s`, `2 min 44 s`. */
export function lapse(ms: number): string {
  if (ms < MINUTE) return measured(ms);
  const [[length, unit], [next, less]] =
    ms >= DAY
      ? [UNITS[0], UNITS[1]]
      : ms >= HOUR
        ? [UNITS[1], UNITS[2]]
        : [UNITS[2], [SECOND, 'second'] as const];
  const rest = Math.floor((ms % length) / next);
  const { lapses } = formats();
  const whole = lapses[unit].format(Math.floor(ms / length));
  return rest === 0 ? whole : `${whole} ${lapses[less].format(rest)}`;
}
