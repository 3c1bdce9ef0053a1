import { DAY } from '../platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../platform/periods/period-marks.ts';
import type { VoteGoal } from './goal.ts';

/** Votes from `from` until `end` (exclusive) count together. */
export type GoalSpan = {
  from: Date;
  /** Null for a rolling goal. */
  end: Date | null;
  /** The first UTC day of the period; null for a rolling goal, whose rounds are numbered. */
  day: string | null;
};

export type CountedSpan = GoalSpan & { votes: number };

/** The period of this moment, which begins with the goal if it was set later; of a rolling goal, all of its time. */
export function spanAt({ period, since }: Pick<VoteGoal, 'period' | 'since'>, at: Date): GoalSpan {
  if (period === 'rolling') return { from: since, end: null, day: null };
  const day = firstDay(period, dayOf(at < since ? since : at));
  const start = startOfDay(day);
  return { from: start < since ? since : start, end: startOfDay(nextDay(period, day)), day };
}

type FixedPeriod = Exclude<VoteGoal['period'], 'rolling'>;

function firstDay(period: FixedPeriod, day: string): string {
  if (period === 'day') return day;
  if (period === 'month') return `${day.slice(0, 7)}-01`;
  const daysSinceMonday = (startOfDay(day).getUTCDay() + 6) % 7;
  return addDays(day, -daysSinceMonday);
}

function nextDay(period: FixedPeriod, first: string): string {
  if (period === 'day') return addDays(first, 1);
  if (period === 'week') return addDays(first, 7);
  return firstDay('month', dayOf(new Date(startOfDay(first).getTime() + 31 * DAY)));
}
