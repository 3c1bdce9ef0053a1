import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts';

export type ChartAxis = { top: number; foot: number; ticks: number[]; isLogarithmic?: boolean };

const MOST_SPACES = 5;

/** From 0 to a round number. `firstOnTop`, for ranks: from 1 at the top to a round number at the foot. */
export function chartAxis(values: (number | null)[], firstOnTop = false): ChartAxis {
  const greatest = Math.max(...values.map((value) => value ?? 0), 2);
  const step = roundStep(greatest / MOST_SPACES);
  const end = Math.ceil(greatest / step) * step;
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, i) => i * step);
  if (!firstOnTop) return { top: end, foot: 0, ticks: ticks.toReversed() };
  return { top: 1, foot: end, ticks: [1, ...ticks.filter((tick) => tick > 1)] };
}

/** About ten times as long each, and as people say them. */
const TIME_TICKS = [1, 10, 100, SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 10 * HOUR, 4 * DAY];

/** At least from 100 ms to a second. */
export function timeAxis(values: (number | null)[]): ChartAxis {
  const known = values.filter((value) => value !== null);
  const [least, greatest] = [Math.min(...known, 100), Math.max(...known, SECOND)];
  const from = Math.max(
    TIME_TICKS.findLastIndex((tick) => tick <= least),
    0,
  );
  const end = TIME_TICKS.findIndex((tick) => tick >= greatest);
  const ticks = TIME_TICKS.slice(from, end === -1 ? undefined : end + 1).toReversed();
  return { top: Math.max(ticks[0] ?? SECOND, greatest), foot: ticks.at(-1) ?? 1, ticks, isLogarithmic: true };
}

/** To 1 at the top, from the highest of these shares that is below all values. */
export function shareAxis(values: (number | null)[]): ChartAxis {
  const least = Math.min(...values.map((value) => value ?? 1));
  const foot = [0.99, 0.95, 0.9, 0.8, 0.5].find((share) => share < least) ?? 0;
  return { top: 1, foot, ticks: [1, (1 + foot) / 2, foot] };
}

/** The smallest of 1, 2, 5, 10, 20, 50, … that is at least `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power;
}

export function placeOf({ top, foot, isLogarithmic }: ChartAxis, value: number): number {
  const on = (one: number) => (isLogarithmic ? Math.log10(Math.max(one, foot)) : one);
  return round((100 * (on(top) - on(value))) / (on(top) - on(foot)));
}

/** A thousandth of a chart is about a pixel at most. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
