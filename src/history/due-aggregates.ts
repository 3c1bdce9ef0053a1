import type { Collection } from 'mongodb';
import { after, type Clock, DAY, MINUTE } from '../platform/clock.ts';
import type { PeriodMark } from '../platform/periods/period-mark.ts';
import { addDays, dayOf, dueDays, markDone, startOf } from '../platform/periods/period-marks.ts';
import type { Server } from '../servers/server.ts';
import { computableDays } from './aggregate-day.ts';

type Due = { periodMarks: Collection<PeriodMark>; servers: Collection<Server>; clock: Clock };

/** A day is computed so long after its end, and again a day later: samples may come late. */
const LATE_SAMPLES_MS = 10 * MINUTE;
const ONCE = 'aggregate-day';
const AGAIN = 'aggregate-day-again';

/**
 * The UTC days to be computed now, oldest first: those not computed yet, and those not computed again. No day
 * before the oldest listed server, none whose samples are gone.
 */
export async function dueAggregates({ servers, ...marks }: Due): Promise<string[]> {
  const now = marks.clock.now();
  const [oldest] = await servers.find({ removedAt: null }).sort({ listedAt: 1 }).limit(1).toArray();
  if (!oldest) return [];
  const listed = dayOf(oldest.listedAt);
  const kept = computableDays(now).first;
  const first = listed > kept ? listed : kept;
  const last = addDays(dayOf(after(now, -LATE_SAMPLES_MS)), -1);
  const once = await dueDays(marks, ONCE, { first, last });
  const again = await dueDays(marks, AGAIN, { first, last: addDays(last, -1) });
  return [...new Set([...once, ...again])].toSorted();
}

/** Marks a day as computed at `begunAt`: for the second time too, where its late samples were in by then. */
export async function markAggregated(
  marks: Pick<Due, 'periodMarks' | 'clock'>,
  day: string,
  begunAt: Date,
): Promise<void> {
  const lateBy = begunAt.getTime() - after(startOf(day), DAY).getTime();
  if (lateBy >= LATE_SAMPLES_MS) await markDone(marks, ONCE, day);
  if (lateBy >= DAY + LATE_SAMPLES_MS) await markDone(marks, AGAIN, day);
}
