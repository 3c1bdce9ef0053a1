import type { ObjectId } from 'mongodb';
import { dayOf, startOfDay } from '../../platform/periods/period-marks.ts';
import { dayOfMonth, monthOf, sum } from '../../votes/vote-counts.ts';
import { countVotesBetween } from '../../votes/vote-figures.ts';
import type { EventsDeps } from '../deps.ts';

/** The votes of the UTC month of `before` that were cast before it. */
export type MonthCount = { before: Date; votes: number };

/** Today's are counted by an index; those of the earlier days are in the counter, which is repaired. */
export async function countMonthBefore(
  { votes, voteCounters }: Pick<EventsDeps, 'votes' | 'voteCounters'>,
  serverId: ObjectId,
  before: Date,
): Promise<MonthCount> {
  const month = { serverId, month: monthOf(before) };
  const counter = await voteCounters.findOne(month, { projection: { days: 1 } });
  const today = dayOfMonth(before);
  const earlier = Object.entries(counter?.days ?? {}).filter(([day]) => day < today);
  const ofToday = await countVotesBetween(votes, serverId, startOfDay(dayOf(before)), before);
  return { before, votes: sum(earlier.map(([, count]) => count)) + ofToday };
}

/** Of `at`, in the month of `at`: a new month begins with 0. */
export function continued({ before, votes }: MonthCount, at: Date): MonthCount {
  return { before: at, votes: monthOf(at) === monthOf(before) ? votes : 0 };
}
