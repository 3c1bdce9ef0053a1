import type { ObjectId } from 'mongodb';
import { DAY, SECOND } from '../platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../platform/periods/period-marks.ts';
import { type PausedTime, pausedMs } from '../servers/listing-pause.ts';
import type { AggregateDeps } from './aggregate-day.ts';
import { UPTIME_DAYS } from './daily-figures.ts';
import type { DailySums } from './daily-stats.ts';
import { type NoDataReason, shownOf } from './history.ts';

/** In seconds that add up to 86,400. */
export type UptimeDay = {
  day: string;
  onlineSeconds: number;
  offlineSeconds: number;
  unknownSeconds: number;
  unknown: Record<NoDataReason, number>;
};

/** The whole UTC days before today, oldest first, by the current source (as in `uptime_percentage`). */
export async function uptimeDays(deps: AggregateDeps, serverId: ObjectId): Promise<UptimeDay[]> {
  const { currentSource: source, pauses } = await shownOf(deps, serverId);
  const today = dayOf(deps.clock.now());
  const first = addDays(today, -UPTIME_DAYS);
  const sumsByDay = new Map<string, DailySums>();
  for await (const stats of deps.dailyStats.find({ serverId, day: { $gte: first, $lt: today } })) {
    sumsByDay.set(stats.day, stats[source]);
  }
  return Array.from({ length: UPTIME_DAYS }, (_, i) => {
    const day = addDays(first, i);
    return uptimeDay(day, sumsByDay.get(day), pauses);
  });
}

function uptimeDay(day: string, sums: DailySums | undefined, pauses: PausedTime[]): UptimeDay {
  const { onlineSeconds = 0, offlineSeconds = 0, unconfirmedSeconds = 0, canarySeconds = 0 } = sums ?? {};
  const unknownSeconds = Math.max(DAY / SECOND - onlineSeconds - offlineSeconds, 0);
  const without = Math.max(unknownSeconds - unconfirmedSeconds - canarySeconds, 0);
  const from = startOfDay(day).getTime();
  const paused = Math.min(without, pausedMs(pauses, from, from + DAY) / SECOND);
  return {
    day,
    onlineSeconds,
    offlineSeconds,
    unknownSeconds,
    unknown: { 'no-data': without - paused, paused, unconfirmed: unconfirmedSeconds, canary: canarySeconds },
  };
}
