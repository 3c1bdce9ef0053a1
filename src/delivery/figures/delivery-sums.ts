import type { OutcomeCode } from '../../listeners/outcomes.ts';
import { addTimes } from './arrival-times.ts';
import { type DeliverySums, deliverySums } from './delivery-day.ts';

const { times: _, causes: __, ...counts } = deliverySums;
type Counts = Record<keyof typeof counts, number>;
const COUNTS = Object.keys(counts) as (keyof Counts)[];

export function noDeliveries(): DeliverySums {
  const none = Object.fromEntries(COUNTS.map((name) => [name, 0])) as Counts;
  return { ...none, times: {}, causes: {} };
}

export function addDeliveries(sum: DeliverySums, day: DeliverySums): void {
  for (const name of COUNTS) sum[name] += day[name];
  addTimes(sum.times, day.times);
  addCauses(sum.causes, day.causes);
}

export function addCauses(sum: DeliverySums['causes'], causes: DeliverySums['causes'], times = 1): void {
  for (const [code, attempts] of Object.entries(causes) as [OutcomeCode, number][])
    sum[code] = (sum[code] ?? 0) + times * attempts;
}

export function totalOf(days: DeliverySums[]): DeliverySums {
  const total = noDeliveries();
  for (const day of days) addDeliveries(total, day);
  return total;
}

/** Waiting votes are not decided. */
export function decidedOf({ delivered, unconfirmed, failed }: DeliverySums): number {
  return delivered + unconfirmed + failed;
}

export function forwardedOf(sums: DeliverySums): number {
  return sums.waiting + decidedOf(sums);
}

/** docs/glossary.md; null if no vote was delivered, failed or stayed unconfirmed. */
export function successRate(sums: DeliverySums): number | null {
  const decided = decidedOf(sums);
  return decided === 0 ? null : sums.delivered / decided;
}

export function failedAttempts({ causes }: DeliverySums): number {
  return Object.values(causes).reduce((sum, attempts) => sum + attempts, 0);
}
