import { type Collection, ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { CodedError } from '../app-error.ts';
import { after, type Clock, DAY } from '../clock.ts';

const periodMarkDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  work: { type: String, required: true },
  /** A UTC day: `2026-11-21`. */
  period: { type: String, required: true },
  doneAt: { type: Date, required: true },
} as const;

/** The periods whose work is done (design rule 6). */
export const periodMarkSchema = new Schema(periodMarkDefinition, { collection: 'period_marks' });
periodMarkSchema.index({ work: 1, period: 1 }, { unique: true });

export type PeriodMark = InferRawDocType<typeof periodMarkDefinition>;

type Marks = { periodMarks: Collection<PeriodMark>; clock: Clock };

/** The work of a UTC day cannot be done: it is not over, its data may still change, or its data was deleted. */
export class DayError extends CodedError<'day-not-over' | 'day-not-settled' | 'day-too-old'> {}

/** `2026-11-21`. */
export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** The first moment of a UTC day. */
export function startOfDay(day: string): Date {
  return new Date(`${day}T00:00:00.000Z`);
}

export function addDays(day: string, days: number): string {
  return dayOf(after(startOfDay(day), days * DAY));
}

/** The first moment of the UTC day `months` months before `day`. If that month is too short: of its last day. */
export function monthsBefore(day: string, months: number): Date {
  const before = startOfDay(day);
  before.setUTCMonth(before.getUTCMonth() - months);
  // JavaScript turns 31 April into 1 May. Day 0 is the last day of the month before.
  return before.getUTCDate() === Number(day.slice(8)) ? before : new Date(before.setUTCDate(0));
}

/** Missed days further back are left out, because their data has been deleted. */
const LONGEST_CATCH_UP_DAYS = 400;

/**
 * The days from `first` to `last`, both included, whose work is not marked as done, oldest first. A day that failed is
 * due even if a later day is done. `first` is by default the oldest marked day, or `last` when none is marked.
 */
export async function dueDays(
  { periodMarks, clock }: Marks,
  work: string,
  { first, last = dayOf(clock.now()) }: { first?: string; last?: string } = {},
): Promise<string[]> {
  const oldest = addDays(last, -LONGEST_CATCH_UP_DAYS);
  const marked = await periodMarks
    .find({ work, period: { $gte: oldest, $lte: last } }, { sort: { period: 1 }, projection: { period: 1 } })
    .map(({ period }) => period)
    .toArray();
  const done = new Set(marked);
  const days: string[] = [];
  const begin = first ?? marked[0] ?? last;
  for (let day = begin > oldest ? begin : oldest; day <= last; day = addDays(day, 1)) {
    if (!done.has(day)) days.push(day);
  }
  return days;
}

export async function markDone({ periodMarks, clock }: Marks, work: string, period: string): Promise<void> {
  await periodMarks.updateOne(
    { work, period },
    { $setOnInsert: { _id: new ObjectId(), doneAt: clock.now() } },
    { upsert: true },
  );
}
