import { percentile } from '../../delivery/figures/arrival-times.ts';
import type { DeliverySums } from '../../delivery/figures/delivery-day.ts';
import { successRate, totalOf } from '../../delivery/figures/delivery-sums.ts';
import type { SiteFigures } from '../../workflows/figures/site-figures.ts';
import { rateOrDash, timeOrDash } from '../shared/delivery-charts.ts';
import { count, decimal } from '../shared/format.ts';

export type Figure = {
  title: string;
  column: string;
  /** The days are ordered from the oldest. null if the value is unknown. */
  of: (days: SiteFigures[]) => number | null;
  shown: (value: number | null) => string;
  /** The direction that is good; absent if neither is. */
  better?: 'up' | 'down';
  /** The scale of its chart, if it is not one from zero. */
  scale?: 'logarithmic' | 'share';
};

const number = (value: number | null) => (value === null ? '–' : count(Math.round(value)));

/** Over several days: the sum. */
const sum = (title: string, column: string, of: (day: SiteFigures) => number | undefined): Figure => ({
  title,
  column,
  of: (days) => sumOf(days.map(of)),
  shown: number,
});

/** Over several days: the last known value. */
const last = (
  title: string,
  column: string,
  of: (day: SiteFigures) => number | undefined,
  shown = number,
): Figure => ({ title, column, of: (days) => days.map(of).findLast(isKnown) ?? null, shown });

/** Computed from the deliveries of all days together. */
const delivery = (
  title: string,
  column: string,
  of: (sums: DeliverySums) => number | null,
  shown: Figure['shown'],
  more: Pick<Figure, 'better' | 'scale'>,
): Figure => ({
  ...more,
  title,
  column,
  of: (days) => (days.length === 0 ? null : of(totalOf(days.map(({ deliveries }) => deliveries)))),
  shown,
});

const isKnown = (value: number | undefined): value is number => value !== undefined;

function sumOf(values: (number | undefined)[]): number | null {
  const known = values.filter(isKnown);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}

const GB = 1e9;
const MB = 1e6;

export function bytes(value: number | null): string {
  if (value === null) return '–';
  return value >= GB ? `${decimal(value / GB)} GB` : `${decimal(value / MB)} MB`;
}

const players: Figure = {
  title: 'Players online on average',
  column: 'players_average',
  better: 'up',
  of(days) {
    const known = days.flatMap(({ players }) => (players ? [players.average] : []));
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0) / known.length;
  },
  /** Of many players, parts are noise. */
  shown: (value) => (value !== null && value < 100 ? decimal(value) : number(value)),
};

export const VOTES: Figure = {
  ...sum('Votes', 'votes', ({ deliveries }) => deliveries.page + deliveries.api),
  better: 'up',
};

const TIMES = { better: 'down', scale: 'logarithmic' } as const;

export const FIGURES: Figure[] = [
  { ...last('Servers listed', 'servers', ({ servers }) => servers.listed), better: 'up' },
  sum('Servers added', 'servers_added', ({ servers }) => servers.added),
  sum('Servers removed', 'servers_removed', ({ servers }) => servers.removed),
  players,
  sum('Votes on pages', 'votes_page', ({ deliveries }) => deliveries.page),
  sum('Votes through the API', 'votes_api', ({ deliveries }) => deliveries.api),
  sum('Excluded votes', 'votes_excluded', ({ deliveries }) => deliveries.excluded),
  sum('Held votes', 'votes_held', ({ deliveries }) => deliveries.held),
  delivery('Success rate', 'success_rate', successRate, rateOrDash, {
    better: 'up',
    scale: 'share',
  }),
  delivery('Half arrive within', 'p50_ms', ({ times }) => percentile(times, 0.5), timeOrDash, TIMES),
  delivery('95 % arrive within', 'p95_ms', ({ times }) => percentile(times, 0.95), timeOrDash, TIMES),
  sum('Votes delivered', 'delivered', ({ deliveries }) => deliveries.delivered),
  sum('Votes waiting', 'waiting', ({ deliveries }) => deliveries.waiting),
  sum('Votes unconfirmed', 'unconfirmed', ({ deliveries }) => deliveries.unconfirmed),
  { ...sum('Votes failed', 'failed', ({ deliveries }) => deliveries.failed), better: 'down' },
  sum('Votes not forwarded', 'not_forwarded', ({ deliveries }) => deliveries.notForwarded),
  { ...sum('Sign-ups', 'sign_ups', ({ signUps }) => signUps), better: 'up' },
  sum('Mails sent', 'mails_sent', ({ mails }) => mails?.sent),
  sum('Mails given up', 'mails_given_up', ({ mails }) => mails?.givenUp),
  last('Storage: data', 'data_bytes', ({ storage }) => storage?.dataBytes, bytes),
  last('Storage: indexes', 'index_bytes', ({ storage }) => storage?.indexBytes, bytes),
];

/** `+12 %`, or `+1.2 points` for a share. Empty if unknown, or if the change rounds to nothing. */
export function changeOf({ column }: Figure, now: number | null, before: number | null): string {
  if (now === null || before === null || now === before) return '';
  if (column === 'success_rate') return signed(100 * (now - before), ' points');
  return before === 0 ? 'from 0' : signed((100 * (now - before)) / before, ' %');
}

function signed(value: number, unit: string): string {
  const rounded = Math.round(10 * value) / 10;
  if (rounded === 0) return '';
  return `${rounded > 0 ? '+' : '−'}${decimal(Math.abs(rounded))}${unit}`;
}
