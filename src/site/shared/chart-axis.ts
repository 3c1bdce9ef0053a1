import { type Html, html } from './html.ts';

/** The vertical axis of a chart: the values at its ends, and the values that have a grid line and a label. */
export type ChartAxis = { top: number; foot: number; ticks: number[]; isLogarithmic?: boolean };

/** The maximum number of spaces between grid lines. */
const MOST_SPACES = 5;

/**
 * The vertical axis of a chart, from 0 to a round number that is at least the greatest value. `firstOnTop`, for ranks:
 * from 1 at the top to such a round number at the foot.
 */
export function chartAxis(values: (number | null)[], firstOnTop = false): ChartAxis {
  const greatest = Math.max(...values.map((value) => value ?? 0), 2);
  const step = roundStep(greatest / MOST_SPACES);
  const end = Math.ceil(greatest / step) * step;
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, i) => i * step);
  if (!firstOnTop) return { top: end, foot: 0, ticks: ticks.toReversed() };
  return { top: 1, foot: end, ticks: [1, ...ticks.filter((tick) => tick > 1)] };
}

/** A vertical axis of powers of ten around the values, for times: one long outage must not flatten all other days. */
export function logarithmicAxis(values: (number | null)[]): ChartAxis {
  const known = values.filter((value): value is number => value !== null && value > 0);
  const from = Math.floor(Math.log10(Math.min(...known, 10)));
  const to = Math.max(Math.ceil(Math.log10(Math.max(...known, 10))), from + 1);
  const ticks = Array.from({ length: to - from + 1 }, (_, i) => 10 ** (to - i));
  return { top: 10 ** to, foot: 10 ** from, ticks, isLogarithmic: true };
}

/** The smallest of 1, 2, 5, 10, 20, 50, … that is at least `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power;
}

/** The distance of a value from the top of the chart, in percent of the chart's height. */
export function placeOf({ top, foot, isLogarithmic }: ChartAxis, value: number): number {
  const on = (one: number) => (isLogarithmic ? Math.log10(Math.max(one, foot)) : one);
  return round((100 * (on(top) - on(value))) / (on(top) - on(foot)));
}

/** Rounds a percentage to one decimal: a thousandth of a chart is about a pixel at most. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The horizontal centre of a point, in percent of the width. A line's only point is at 50. */
export function middleOf(place: 'line' | 'column', index: number, points: number): number {
  if (place === 'line') return points === 1 ? 50 : (100 * index) / (points - 1);
  return (100 * (index + 0.5)) / points;
}

/** The labels of the time axis: the first and the last point, and up to three between them. */
export function timeLabels(points: { label: string; at?: Date }[], place: 'line' | 'column'): Html {
  const last = points.length - 1;
  const indexes = [...new Set([0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(part * last)))];
  const labels = indexes.map((index) => {
    const x = `${round(middleOf(place, index, points.length))}%`;
    const { label = '', at } = points[index] ?? {};
    const isEnd = last > 0 && (index === 0 || index === last);
    const name = isEnd ? (index === 0 ? 'first' : 'last') : index === Math.round(last / 2) ? '' : 'between';
    const time = at ? html` data-time="${String(at.getTime())}"` : '';
    return html`<line x1="${x}" x2="${x}" y2="5" /><text class="${name}" x="${x}" y="1.35em"${time}>${label}</text>`;
  });
  return html`<svg class="chart-times" aria-hidden="true">${labels}</svg>`;
}
