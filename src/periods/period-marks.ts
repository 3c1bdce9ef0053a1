import { type Collection, ObjectId } from 'mongodb';
import { after, type Clock, DAY } from '../clock.ts';
import type { PeriodMark } from './period-mark.ts';

type Marks = { periodMarks: Collection<PeriodMark>; clock: Clock };

/** The UTC day of a moment, `2026-11-21`. */
export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** The first moment of a UTC day. */
export function startOf(day: string): Date {
  return new Date(`${day}T00:00:00.000Z`);
}

/** Catching up goes back no further than this: what is older was forgotten with its data. */
const LONGEST_CATCH_UP_DAYS = 400;

/**
 * The UTC days whose work is not marked as done, oldest first: from the day after the newest mark up to today;
 * only today when nothing was ever done.
 */
export async function dueDays({ periodMarks, clock }: Marks, work: string): Promise<string[]> {
  const today = dayOf(clock.now());
  const newest = await periodMarks.findOne({ work }, { sort: { period: -1 } });
  if (!newest) return [today];
  const days: string[] = [];
  for (
    let day = today;
    day > newest.period && days.length < LONGEST_CATCH_UP_DAYS;
    day = dayOf(after(startOf(day), -DAY))
  ) {
    days.unshift(day);
  }
  return days;
}

/** Marks a day's work as done; marking it again changes nothing. */
export async function markDone({ periodMarks, clock }: Marks, work: string, period: string): Promise<void> {
  await periodMarks.updateOne(
    { work, period },
    { $setOnInsert: { _id: new ObjectId(), doneAt: clock.now() } },
    { upsert: true },
  );
}
