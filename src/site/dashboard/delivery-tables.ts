import { percentile } from '../../delivery/figures/arrival-times.ts';
import type { DayOfDeliveries } from '../../delivery/figures/delivery-figures.ts';
import { csv } from '../shared/csv.ts';

type Row = (string | number | null)[];

const COLUMNS = {
  votes_page: ({ page }) => page,
  votes_api: ({ api }) => api,
  votes_excluded: ({ excluded }) => excluded,
  not_forwarded: ({ notForwarded }) => notForwarded,
  waiting: ({ waiting }) => waiting,
  delivered: ({ delivered }) => delivered,
  unconfirmed: ({ unconfirmed }) => unconfirmed,
  failed: ({ failed }) => failed,
  p50_ms: ({ times }) => percentile(times, 0.5),
  p95_ms: ({ times }) => percentile(times, 0.95),
} satisfies Record<string, (day: DayOfDeliveries) => number | null>;

/** The CSV files by name. Each line is a UTC day, or a cause of failures on a day. Unknown values are empty cells. */
export const DELIVERY_TABLES = {
  'deliveries.csv': (days: DayOfDeliveries[]) =>
    csv(
      ['day', ...Object.keys(COLUMNS)],
      days.map((day): Row => [day.day, ...Object.values(COLUMNS).map((of) => of(day))]),
    ),
  'failures.csv': (days: DayOfDeliveries[]) =>
    csv(
      ['day', 'cause', 'failed_attempts'],
      days.flatMap(({ day, causes }) =>
        Object.entries(causes).map(([code, attempts]): Row => [day, code, attempts]),
      ),
    ),
};

export function isDeliveryTable(name: string): name is keyof typeof DELIVERY_TABLES {
  return Object.hasOwn(DELIVERY_TABLES, name);
}
