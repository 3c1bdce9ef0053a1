import type { ObjectId } from 'mongodb';
import { addDays, dayOf } from '../../platform/periods/period-marks.ts';
import type { DeliveryDeps } from '../deps.ts';
import type { DeliverySums } from './delivery-day.ts';
import { noDeliveries, successRate, totalOf } from './delivery-sums.ts';

export type DayOfDeliveries = DeliverySums & { day: string };

/**
 * A server's deliveries on each of the last `days` UTC days, today included, oldest first. `countedAt`: null if there
 * is no count in these days.
 */
export async function deliveriesByDay(
  { deliveryDays, clock }: DeliveryDeps,
  serverId: ObjectId,
  days: number,
): Promise<{ days: DayOfDeliveries[]; countedAt: Date | null }> {
  const today = dayOf(clock.now());
  const first = addDays(today, 1 - days);
  const stored = await deliveryDays.find({ serverId, day: { $gte: first, $lte: today } }).toArray();
  const byDay = new Map(stored.map((one) => [one.day, one]));
  const counted = stored.map(({ countedAt }) => countedAt.getTime());
  return {
    days: Array.from({ length: days }, (_, i) => {
      const day = addDays(first, i);
      return { ...noDeliveries(), ...byDay.get(day), day };
    }),
    countedAt: counted.length > 0 ? new Date(Math.max(...counted)) : null,
  };
}

/** By the id of the server, in hex: the share of the votes of the last `days` UTC days that were delivered. */
export async function successRates(
  { deliveryDays, clock }: DeliveryDeps,
  serverIds: ObjectId[],
  days: number,
): Promise<Map<string, number | null>> {
  const first = addDays(dayOf(clock.now()), 1 - days);
  const stored = await deliveryDays.find({ serverId: { $in: serverIds }, day: { $gte: first } }).toArray();
  const byServer = Map.groupBy(stored, ({ serverId }) => serverId.toHexString());
  return new Map([...byServer].map(([id, of]) => [id, successRate(totalOf(of))]));
}
