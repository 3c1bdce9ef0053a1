import type { Collection } from 'mongodb';
import { after, type Clock, DAY, MINUTE } from '../platform/clock.ts';
import {
  addDays,
  dayOf,
  dueDays,
  markDone,
  type PeriodMark,
  startOfDay,
} from '../platform/periods/period-marks.ts';
import type { Server } from '../servers/server.ts';
import { computableDays } from './aggregate-day.ts';

type Due = { periodMarks: Collection<PeriodMark>; servers: Collection<Server>; clock: Clock };

/** A day is computed this long after its end, and again a day later, because samples may be late. */
const LATE_SAMPLES_MS = 10 * MINUTE;
const ONCE = 'aggregate-day';
const AGAIN = 'aggregate-day-again';

/**
 * Oldest first: those that were not computed yet, or only once and are due again. Days before the oldest listing and
 * days whose samples have expired are left out.
 */
export async function dueAggregates({ servers, ...marks }: Due): Promise<string[]> {
  const now = marks.clock.now();
  const [oldest] = await servers.find({ removedAt: null }).sort({ listedAt: 1 }).limit(1).toArray();
  if (!oldest) return [];
  const listed = dayOf(oldest.listedAt);
  const computable = computableDays(now).first;
  const first = listed > computable ? listed : computable;
  const last = addDays(dayOf(after(now, -LATE_SAMPLES_MS)), -1);
  const once = await dueDays(marks, ONCE, { first, last });
  const again = await dueDays(marks, AGAIN, { first, last: addDays(last, -1) });
  return [...new Set([...once, ...again])].toSorted();
}

/**
 * Marks the day if the computation began at least `LATE_SAMPLES_MS` after its end; as computed again a day later than
 * that.
 */
export async function markAggregated(marks: Pick<Due, 'periodMarks' | 'clock'>, day: string, begunAt: Date) {
  const lateBy = begunAt.getTime() - after(startOfDay(day), DAY).getTime();
  if (lateBy >= LATE_SAMPLES_MS) await markDone(marks, ONCE, day);
  if (lateBy >= DAY + LATE_SAMPLES_MS) await markDone(marks, AGAIN, day);
}
