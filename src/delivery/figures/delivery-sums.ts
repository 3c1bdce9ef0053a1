import type { OutcomeCode } from '../../listeners/outcomes.ts';
import { addTimes } from './arrival-times.ts';
import type { DeliverySums } from './delivery-day.ts';

/** The counts of a sum: everything but times and causes. */
const COUNTS = [
  'page',
  'api',
  'excluded',
  'held',
  'notForwarded',
  'waiting',
  'delivered',
  'unconfirmed',
  'failed',
] as const satisfies (keyof DeliverySums)[];

/** Sums without votes. */
export function noDeliveries(): DeliverySums {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, 0])) as Record<
    (typeof COUNTS)[number],
    number
  >;
  return { ...counts, times: {}, causes: {} };
}

/** Adds `day` to `sum`. */
export function addDeliveries(sum: DeliverySums, day: DeliverySums): void {
  for (const name of COUNTS) sum[name] += day[name];
  addTimes(sum.times, day.times);
  addCauses(sum.causes, day.causes);
}

/** Adds `times` times the attempts of `causes` to `sum`. */
export function addCauses(sum: DeliverySums['causes'], causes: DeliverySums['causes'], times = 1): void {
  for (const [code, attempts] of Object.entries(causes) as [OutcomeCode, number][])
    sum[code] = (sum[code] ?? 0) + times * attempts;
}

/** The sums of several days or servers. */
export function totalOf(days: DeliverySums[]): DeliverySums {
  const total = noDeliveries();
  for (const day of days) addDeliveries(total, day);
  return total;
}

/** The votes that were forwarded, or still wait to be. */
export function forwardedOf({ waiting, delivered, unconfirmed, failed }: DeliverySums): number {
  return waiting + delivered + unconfirmed + failed;
}

/** The share of delivered votes among those that are decided, from 0 to 1; null if none is. */
export function successRate({ delivered, unconfirmed, failed }: DeliverySums): number | null {
  const decided = delivered + unconfirmed + failed;
  return decided === 0 ? null : delivered / decided;
}

/** How many attempts failed. */
export function failedAttempts({ causes }: DeliverySums): number {
  return Object.values(causes).reduce((sum, attempts) => sum + attempts, 0);
}
