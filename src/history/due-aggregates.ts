import type { Collection } from 'mongodb';
import { after, type Clock, DAY, MINUTE } from '../platform/clock.ts';
import type { PeriodMark } from '../platform/periods/period-mark.ts';
import { addDays, dayOf, dueDays, markDone, startOf } from '../platform/periods/period-marks.ts';
import type { Server } from '../servers/server.ts';
import { computableDays } from './aggregate-day.ts';

type Due = { periodMarks: Collection<PeriodMark>; servers: Collection<Server>; clock: Clock };

/** A day is computed this long after its end, and again a day later, because samples may be late. */
const LATE_SAMPLES_MS = 10 * MINUTE;
const ONCE = 'aggregate-day';
const AGAIN = 'aggregate-day-again';

/**
 * The UTC days to compute now, oldest first: those not computed yet, and those not computed again. Days before the
 * oldest listed server and days without samples are left out.
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
 * Marks a day as computed if `begunAt` was late enough for late samples, and as computed again if it was a day later.
 */
export async function markAggregated(
  marks: Pick<Due, 'periodMarks' | 'clock'>,
  day: string,
  begunAt: Date,
): Promise<void> {
  const lateBy = begunAt.getTime() - after(startOf(day), DAY).getTime();
  if (lateBy >= LATE_SAMPLES_MS) await markDone(marks, ONCE, day);
  if (lateBy >= DAY + LATE_SAMPLES_MS) await markDone(marks, AGAIN, day);
}
