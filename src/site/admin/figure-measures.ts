import { addDays } from '../../platform/periods/period-marks.ts';
import type { SiteDay } from '../../workflows/figures/read-figures.ts';
import type { SiteFigures } from '../../workflows/figures/site-figures.ts';
import { legend, lineChart } from '../shared/chart.ts';
import { changeMark, KNOWN_WITHIN_DAYS } from '../shared/deck.ts';
import { dayTable } from '../shared/delivery-charts.ts';
import { shortDay } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { changeOf, FIGURES, type Figure, VOTES } from './figure-rows.ts';

/** `step`: the days of a point of a chart. */
export type Period = { days: number; step: number; text: string; of: string };

const daily = (days: number): Period => ({ days, step: 1, text: `${days} days`, of: 'a day' });

export const BY_DEFAULT = daily(30);

/** All periods end with yesterday, because today is not whole. */
export const PERIODS: Period[] = [
  daily(7),
  BY_DEFAULT,
  { days: 52 * 7, step: 7, text: '12 months', of: 'a week' },
];

/** The days of a period and of the one before, the oldest first. `before` is empty if its first days have no figures. */
export type Periods = { period: Period; now: SiteDay[]; before: SiteDay[] };

/** `days` ends with today. */
export function periodsOf(period: Period, days: SiteDay[]): Periods {
  const whole = days.slice(0, -1);
  const before = whole.slice(-2 * period.days, -period.days);
  const isKnown = countedDays(before.slice(0, KNOWN_WITHIN_DAYS)).length > 0;
  return { period, now: whole.slice(-period.days), before: isKnown ? before : [] };
}

/** Days without figures are left out. */
export function countedDays(days: SiteDay[]): SiteFigures[] {
  return days.flatMap(({ figures }) => figures ?? []);
}

/** In the order of the page. */
const COLUMNS = ['success_rate', 'p50_ms', 'players_average', 'servers', 'sign_ups'];
const MEASURES = [
  VOTES,
  ...COLUMNS.flatMap((wanted) => FIGURES.find(({ column }) => column === wanted) ?? []),
];

/** Numbers that choose the chart below them, without a script. The first is chosen. */
export function measuresCard(periods: Periods): Html {
  return html`<section class="card flush measures-card">
    <h2 class="for-readers">Numbers and their charts</h2>
    <fieldset class="measures"><legend class="for-readers">Number shown in the chart</legend>${MEASURES.map(
      (measure, index) => choice(periods, measure, index === 0),
    )}</fieldset>
    <div class="measure-charts">${MEASURES.map((measure) => html`<div>${chartOf(periods, measure)}</div>`)}</div>
  </section>`;
}

function choice({ now, before }: Periods, measure: Figure, isFirst: boolean): Html {
  const [value, old] = [measure.of(countedDays(now)), measure.of(countedDays(before))];
  const unchanged = value === null || old === null ? '' : html`<span class="change">unchanged</span>`;
  return html`<label><input type="radio" name="measure" value="${measure.column}" autocomplete="off"
    ${isFirst ? 'checked' : ''} /><span class="name">${measure.title}</span><span
    class="mid">${measure.shown(value)}</span>${changeMarkOf(measure, value, old) || unchanged}</label>`;
}

/** An arrow and the change, in green or red by what is good. Empty if nothing changed or nothing is known. */
export function changeMarkOf(figure: Figure, value: number | null, before: number | null): Content {
  const change = changeOf(figure, value, before);
  if (!change) return '';
  const sign = change.startsWith('−') ? -1 : 1;
  return changeMark(sign, change.replace(/^[+−]/, ''), figure.better ?? null);
}

type Row = { day: string; value: number | null; before: number | null };

function chartOf({ period, now, before }: Periods, measure: Figure): Html {
  const { title, shown, scale } = measure;
  const values = (days: SiteDay[]) =>
    groupsOf(days, period.step).map((group) => measure.of(countedDays(group)));
  const [nows, befores] = [values(now), values(before)];
  const rows = groupsOf(now, period.step).map(([first], i) => ({
    day: first?.day ?? '',
    value: nows[i] ?? null,
    before: befores[i] ?? null,
  }));
  const name = `${title} ${period.of}`;
  return html`<div class="legend-line"><b>${name}</b>${legend([
    ['line', `these ${period.text}`],
    ...(before.length > 0 ? ([['before', `the ${period.text} before`]] as ['before', string][]) : []),
  ])}</div>${lineChart({
    title: `${name}, ${period.text}${before.length > 0 ? `, and the ${period.text} before` : ''}`,
    points: rows.map(({ day, value }) => ({ label: labelOf(day, period), value, reason: 'not counted' })),
    before: befores,
    shown,
    isLogarithmic: scale === 'logarithmic',
    isShare: scale === 'share',
    details: (index) =>
      before.length > 0 ? `, ${period.text} before: ${shown(befores[index] ?? null)}` : '',
    empty: 'Not counted yet.',
    numbers: dayTable(name, rows, [
      { title: 'Value', kind: 'number', cell: ({ value }) => shown(value) },
      ...(before.length > 0
        ? [{ title: `${period.text} before`, kind: 'number' as const, cell: (row: Row) => shown(row.before) }]
        : []),
    ]),
  })}`;
}

function groupsOf(days: SiteDay[], step: number): SiteDay[][] {
  return Array.from({ length: Math.ceil(days.length / step) }, (_, i) =>
    days.slice(i * step, (i + 1) * step),
  );
}

/** A week is named by both of its ends, because its first day alone reads like a day. */
function labelOf(day: string, { step }: Period): string {
  const short = (one: string) => shortDay(new Date(one));
  return step === 1 ? short(day) : `${short(day)}–${short(addDays(day, step - 1))}`;
}
