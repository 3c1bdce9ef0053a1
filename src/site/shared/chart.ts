import { t } from '../../language/t.ts';
import { emptyLine } from './empty-card.ts';
import { type Content, type Html, html } from './html.ts';

/**
 * A point on a chart's time axis. If `value` is null, it is unknown and drawn as a gap; `reason` says why. If `at` is
 * set, a script adds the time in the visitor's time zone to the label.
 */
export type ChartPoint = { label: string; value: number | null; reason?: string; at?: Date };

type Chart = {
  /** The chart's accessible name. */
  title: string;
  points: ChartPoint[];
  /** Formats a value, for the axis and the tooltips. */
  shown: (value: number) => string;
  /** A table with the same data. */
  numbers: Html;
  /** Shown instead of the chart when there is no data. */
  empty: Content;
};

/** The size of the SVG's view box. The page stretches the SVG to the available width. */
const WIDTH = 600;
const HEIGHT = 160;

/** A chart with one bar per point, for sums such as votes. */
export function barChart(chart: Chart): Html {
  const top = axisTop(chart.points);
  const step = WIDTH / Math.max(chart.points.length, 1);
  const bars = chart.points.map(({ label, value }, index) => {
    const [x, width] = [round(index * step + step * 0.12), round(step * 0.76)];
    if (value === null) {
      const title = t('{label}: unknown', { label });
      return html`<rect class="gap" x="${x}" y="0" width="${width}" height="${HEIGHT}"><title>${title}</title></rect>`;
    }
    const height = round((value / top) * HEIGHT);
    return html`<g><title>${label}: ${chart.shown(value)}</title>
      <rect class="reach" x="${round(index * step)}" y="0" width="${round(step)}" height="${HEIGHT}" />
      <rect class="bar" x="${x}" y="${round(HEIGHT - height)}" width="${width}" height="${height}" /></g>`;
  });
  return figureOf(chart, [top, 0], html`${bars}`);
}

/**
 * A chart with a line and with gaps for unknown values, for levels such as players.
 *
 * @param chart - `firstOnTop`: the axis begins with 1 at the top, for ranks
 */
export function lineChart(chart: Chart & { firstOnTop?: boolean }): Html {
  const { firstOnTop = false } = chart;
  const [top, foot] = firstOnTop ? [1, Math.max(axisTop(chart.points), 3)] : [axisTop(chart.points), 0];
  // If there is a single point: it is drawn in the middle, and its tooltip covers the whole width.
  const isAlone = chart.points.length === 1;
  const left = isAlone ? WIDTH / 2 : 0;
  const step = isAlone ? 2 * WIDTH : WIDTH / Math.max(chart.points.length - 1, 1);
  const at = (index: number, value: number) =>
    `${round(left + index * step)} ${round(((top - value) / (top - foot)) * HEIGHT)}`;
  const runs = knownRuns(chart.points).map((run) => {
    const [first] = run;
    const last = run.at(-1);
    if (!first || !last) return '';
    const line = run.map(({ index, value }) => at(index, value)).join(' L');
    // A point between two gaps is a line without length. Its round ends draw it as a dot.
    if (run.length === 1) return html`<path class="line lone" d="M${line} h0.01" />`;
    const area = `M${round(first.index * step)} ${HEIGHT} L${line} L${round(last.index * step)} ${HEIGHT} Z`;
    return html`${firstOnTop ? '' : html`<path class="area" d="${area}" />`}<path class="line" d="M${line}" />`;
  });
  return figureOf(chart, [top, foot], html`${gaps(chart.points, step)}${runs}${tips(chart, step)}`);
}

/** The tooltips. Each covers the part of the width that belongs to its point. */
function tips({ points, shown }: Chart, step: number): Html {
  const parts = points.map(({ label, value, reason = t('unknown'), at }, index) => {
    const from = Math.max((index - 0.5) * step, 0);
    const width = Math.min((index + 0.5) * step, WIDTH) - from;
    const time = at ? html` data-at="${String(at.getTime())}"` : '';
    const text = value === null ? reason : shown(value);
    return html`<rect x="${round(from)}" width="${round(width)}"${time}><title>${label}: ${text}</title></rect>`;
  });
  // Their height is set in site.css and not here, to save bytes: there are many of them.
  return html`<g class="tips">${parts}</g>`;
}

type Known = { index: number; value: number };

/** Runs of consecutive known points. */
function knownRuns(points: ChartPoint[]): Known[][] {
  const runs: Known[][] = [];
  let previous = -2;
  for (const [index, { value }] of points.entries()) {
    if (value === null) continue;
    if (previous !== index - 1) runs.push([]);
    runs.at(-1)?.push({ index, value });
    previous = index;
  }
  return runs;
}

/** Grey areas between known points, for the time in which values are unknown. */
function gaps(points: ChartPoint[], step: number): Content[] {
  const drawn: Content[] = [];
  for (let begin = 0; begin < points.length; begin += 1) {
    if (points[begin]?.value !== null) continue;
    let end = begin;
    while (end + 1 < points.length && points[end + 1]?.value === null) end += 1;
    const from = Math.max(begin - 1, 0);
    const width = round((Math.min(end + 1, points.length - 1) - from) * step);
    drawn.push(
      html`<rect class="gap" x="${round(from * step)}" y="0" width="${width}" height="${HEIGHT}" />`,
    );
    begin = end;
  }
  return drawn;
}

/** A day and its shares of time, from 0 to 1. If their sum is less than 1, the rest is unknown. */
type ShareDay = { label: string; good: number; bad: number };

/** A chart with one column per day: good at the bottom, bad above it, unknown in grey. */
export function shareChart(chart: Omit<Chart, 'points' | 'shown'> & { days: ShareDay[] }): Html {
  const step = WIDTH / Math.max(chart.days.length, 1);
  const columns = chart.days.map(({ label, good, bad }, index) => {
    const [x, width] = [round(index * step + step * 0.08), round(step * 0.84)];
    const [goodHeight, badHeight] = [round(good * HEIGHT), round(bad * HEIGHT)];
    const goodTop = round(HEIGHT - goodHeight);
    const badTop = round(HEIGHT - goodHeight - badHeight);
    return html`<g><title>${label}</title><rect class="gap" x="${x}" y="0" width="${width}" height="${HEIGHT}" />
      <rect class="share good" x="${x}" y="${goodTop}" width="${width}" height="${goodHeight}" />
      <rect class="share bad" x="${x}" y="${badTop}" width="${width}" height="${badHeight}" /></g>`;
  });
  const labels = chart.days.map(({ label }) => ({ label: label.split(':')[0] ?? '', value: 1 }));
  const isEmpty = chart.days.every(({ good, bad }) => good + bad === 0);
  const shown = (value: number) => `${Math.round(100 * value)} %`;
  return figureOf({ ...chart, points: isEmpty ? [] : labels, shown }, [1, 0], html`${columns}`);
}

function figureOf(
  { title, points, shown, numbers, empty }: Chart,
  [top, foot]: [top: number, foot: number],
  drawing: Html,
): Html {
  if (points.every(({ value }) => value === null)) return emptyLine(empty);
  // A set, because with one or two points a label would appear twice.
  const labelled = [...new Set([points[0], points[Math.floor(points.length / 2)], points.at(-1)])];
  const scale = [top, (top + foot) / 2, foot].map((value) => html`<span>${shown(value)}</span>`);
  const times = labelled.map((point) => {
    const time = point?.at?.toISOString();
    const label = point?.label ?? '';
    return html`<span>${time ? html`<time datetime="${time}" data-local="short">${label}</time>` : label}</span>`;
  });
  return html`<figure class="chart-figure">
    <div class="chart-scale" aria-hidden="true">${scale}</div>
    <svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}">
      ${[0, HEIGHT / 2, HEIGHT].map((y) => html`<line class="grid" x1="0" x2="${WIDTH}" y1="${y}" y2="${y}" />`)}
      ${drawing}
    </svg>
    <div class="chart-times" aria-hidden="true">${times}</div>
    <p class="chart-value small soft" aria-hidden="true">${t('Touch the chart to read its values.')}</p>
    <details class="chart-numbers"><summary>${t('Show as a table')}</summary>${numbers}</details>
  </figure>`;
}

/** The value at the top of the axis: not below the greatest value, and a round number whose half is round too. */
function axisTop(points: ChartPoint[]): number {
  const greatest = Math.max(...points.map(({ value }) => value ?? 0), 1);
  const power = 10 ** Math.floor(Math.log10(greatest));
  const step = [1, 2, 4, 6, 8, 10].find((factor) => factor * power >= greatest) ?? 10;
  return Math.max(step * power, 2);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
