import type { ObjectId } from 'mongodb';
import { anyOf } from '../../platform/batching/find-loader.ts';
import { dayOf, startOfDay } from '../../platform/periods/period-marks.ts';
import { EXCLUDED_VOTES } from '../../votes/vote.ts';
import { dayOfMonth, monthOf, sum } from '../../votes/vote-counts.ts';
import type { EventsDeps } from '../deps.ts';

/** The votes of the UTC month of `before` that were cast before it. */
export type MonthCount = { before: Date; votes: number };

/** Of `at`, in the month of `at`: a new month begins with 0. */
export function continued({ before, votes }: MonthCount, at: Date): MonthCount {
  return { before: at, votes: monthOf(at) === monthOf(before) ? votes : 0 };
}

type Counting = Pick<EventsDeps, 'votes' | 'voteCounters'>;

/** Today's votes are counted by indexes; those of the earlier days are in the counters, which are repaired. */
export async function countMonthsBefore(
  deps: Counting,
  serverIds: ObjectId[],
  before: Date,
): Promise<(serverId: ObjectId) => MonthCount> {
  const serverId = anyOf(serverIds);
  const today = { serverId, votedAt: { $gte: startOfDay(dayOf(before)), $lt: before } };
  const [counters, all, excluded] = await Promise.all([
    deps.voteCounters
      .find({ serverId, month: monthOf(before) }, { projection: { serverId: 1, days: 1 } })
      .toArray(),
    countByServer(deps, today, 'serverId_1_votedAt_1'),
    countByServer(deps, { ...today, excludedAt: { $gt: new Date(0) } }, EXCLUDED_VOTES),
  ]);
  const earlier = new Map(
    counters.map(({ serverId: id, days }) => {
      const earlierDays = Object.entries(days).filter(([day]) => day < dayOfMonth(before));
      return [id.toHexString(), sum(earlierDays.map(([, count]) => count))];
    }),
  );
  return (id) => {
    const of = (counts: Map<string, number>) => counts.get(id.toHexString()) ?? 0;
    return { before, votes: of(earlier) + of(all) - of(excluded) };
  };
}

async function countByServer(
  { votes }: Counting,
  $match: object,
  hint: string,
): Promise<Map<string, number>> {
  const groups = await votes
    .aggregate<{ _id: ObjectId; votes: number }>(
      [{ $match }, { $group: { _id: '$serverId', votes: { $sum: 1 } } }],
      { hint },
    )
    .toArray();
  return new Map(groups.map(({ _id, votes: count }) => [_id.toHexString(), count]));
}
