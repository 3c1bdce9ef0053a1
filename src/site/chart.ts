import { html } from 'hono/html';
import type { Content, Html } from './html.ts';

/** One place of a chart's axis of time; `value` null is unknown, a gap, and `told` says why. */
export type ChartPoint = { label: string; value: number | null; told?: string };

type Chart = {
  /** What it shows, as a heading says it. */
  title: string;
  points: ChartPoint[];
  /** A value as its axis and its tips show it. */
  shown: (value: number) => string;
  /** The same in numbers, for whoever does not see the drawing. */
  numbers: Html;
  /** Instead of a drawing in which nothing is. */
  empty: Content;
};

/** The drawing's own units; it is stretched to the room that the page has. */
const WIDTH = 600;
const HEIGHT = 160;

/** A bar for each point: for sums, such as votes. */
export function barChart(chart: Chart): Html {
  const top = axisTop(chart.points);
  const step = WIDTH / Math.max(chart.points.length, 1);
  const bars = chart.points.map(({ label, value }, index) => {
    const [x, width] = [round(index * step + step * 0.12), round(step * 0.76)];
    if (value === null)
      return html`<rect class="gap" x="${x}" y="0" width="${width}" height="${HEIGHT}"><title>${label}: unknown</title></rect>`;
    const height = round((value / top) * HEIGHT);
    return html`<g><title>${label}: ${chart.shown(value)}</title>
      <rect class="reach" x="${round(index * step)}" y="0" width="${round(step)}" height="${HEIGHT}" />
      <rect class="bar" x="${x}" y="${round(HEIGHT - height)}" width="${width}" height="${height}" /></g>`;
  });
  return figureOf(chart, [top, 0], html`${bars}`);
}

/**
 * A line through the points, broken where nothing is known: for levels, such as players.
 *
 * @param chart - `firstOnTop` for places, of which 1 is the best
 */
export function lineChart(chart: Chart & { firstOnTop?: boolean }): Html {
  const { firstOnTop = false } = chart;
  const [top, foot] = firstOnTop ? [1, Math.max(axisTop(chart.points), 3)] : [axisTop(chart.points), 0];
  // One point alone stands in the middle, and its tip takes the whole width.
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
    // A point between two gaps has no length: it is drawn as a dot by its round ends.
    if (run.length === 1) return html`<path class="line lone" d="M${line} h0.01" />`;
    const area = `M${round(first.index * step)} ${HEIGHT} L${line} L${round(last.index * step)} ${HEIGHT} Z`;
    return html`${firstOnTop ? '' : html`<path class="area" d="${area}" />`}<path class="line" d="M${line}" />`;
  });
  return figureOf(chart, [top, foot], html`${gaps(chart.points, step)}${runs}${tips(chart, step)}`);
}

/** What is under the pointer: each point over its own part of the width. */
function tips({ points, shown }: Chart, step: number): Html {
  const parts = points.map(({ label, value, told = 'unknown' }, index) => {
    const from = Math.max((index - 0.5) * step, 0);
    const width = Math.min((index + 0.5) * step, WIDTH) - from;
    return html`<rect x="${round(from)}" width="${round(width)}"><title>${label}: ${value === null ? told : shown(value)}</title></rect>`;
  });
  // Their height, the whole drawing's, stands in site.css: there are many of them.
  return html`<g class="tips">${parts}</g>`;
}

type Known = { index: number; value: number };

/** The points that are known, in runs without a gap. */
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

/** Grey where nothing is known, from the last known point to the next one. */
function gaps(points: ChartPoint[], step: number): Content[] {
  const drawn: Content[] = [];
  for (let begin = 0; begin < points.length; begin += 1) {
    if (points[begin]?.value !== null) continue;
    let end = begin;
    while (end + 1 < points.length && points[end + 1]?.value === null) end += 1;
    const from = Math.max(begin - 1, 0);
    const to = Math.min(end + 1, points.length - 1);
    drawn.push(
      html`<rect class="gap" x="${round(from * step)}" y="0" width="${round((to - from) * step)}" height="${HEIGHT}" />`,
    );
    begin = end;
  }
  return drawn;
}

/** A day, and its shares of time; together 1 at most, the rest is unknown. */
type ShareDay = { label: string; good: number; bad: number };

/** A column for each day: good from the bottom up, bad over it, grey where nothing is known. */
export function shareChart(chart: Omit<Chart, 'points' | 'shown'> & { days: ShareDay[] }): Html {
  const step = WIDTH / Math.max(chart.days.length, 1);
  const columns = chart.days.map(({ label, good, bad }, index) => {
    const [x, width] = [round(index * step + step * 0.08), round(step * 0.84)];
    const [goodHeight, badHeight] = [round(good * HEIGHT), round(bad * HEIGHT)];
    return html`<g><title>${label}</title><rect class="gap" x="${x}" y="0" width="${width}" height="${HEIGHT}" />
      <rect class="share good" x="${x}" y="${round(HEIGHT - goodHeight)}" width="${width}" height="${goodHeight}" />
      <rect class="share bad" x="${x}" y="${round(HEIGHT - goodHeight - badHeight)}" width="${width}" height="${badHeight}" /></g>`;
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
  if (points.every(({ value }) => value === null)) return html`<p class="empty">${empty}</p>`;
  // Of one or two points none is named twice.
  const ends = [...new Set([points[0], points[Math.floor(points.length / 2)], points.at(-1)])];
  return html`<figure class="chart-figure">
    <div class="chart-scale" aria-hidden="true"><span>${shown(top)}</span><span>${shown((top + foot) / 2)}</span><span>${shown(foot)}</span></div>
    <svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}">
      ${[0, HEIGHT / 2, HEIGHT].map((y) => html`<line class="grid" x1="0" x2="${WIDTH}" y1="${y}" y2="${y}" />`)}
      ${drawing}
    </svg>
    <div class="chart-times" aria-hidden="true">${ends.map((point) => html`<span>${point?.label ?? ''}</span>`)}</div>
    <details class="chart-numbers"><summary>In numbers</summary>${numbers}</details>
  </figure>`;
}

/** A round number at or over the greatest value, whose half is round too. */
function axisTop(points: ChartPoint[]): number {
  const greatest = Math.max(...points.map(({ value }) => value ?? 0), 1);
  const power = 10 ** Math.floor(Math.log10(greatest));
  const step = [1, 2, 4, 6, 8, 10].find((factor) => factor * power >= greatest) ?? 10;
  return Math.max(step * power, 2);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
