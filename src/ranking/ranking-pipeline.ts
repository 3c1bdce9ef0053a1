import type { Collection, Document, Filter } from 'mongodb';
import type { Logger } from '../platform/log.ts';
import type { PeriodMark } from '../platform/periods/period-mark.ts';
import { addDays } from '../platform/periods/period-marks.ts';
import type { Leasing } from '../platform/periods/work-lease.ts';
import type { ReviewList } from '../reviews/review.ts';
import type { Server } from '../servers/server.ts';
import type { VoteCounter } from '../votes/vote-counter.ts';
import { RANKING_DAYS } from '../votes/vote-figures.ts';
import type { RankSnapshot } from './rank-snapshot.ts';
import type { ListingSummary, RankedList } from './ranked-list.ts';

/** The dependencies of a ranking. */
export type Ranking = Leasing & {
  servers: Collection<Server>;
  voteCounters: Collection<VoteCounter>;
  reviewLists: Collection<ReviewList>;
  rankSnapshots: Collection<RankSnapshot>;
  rankedLists: Collection<RankedList>;
  listingSummary: Collection<ListingSummary>;
  periodMarks: Collection<PeriodMark>;
  log: Logger;
};

/** The filter of servers that are ranked. */
export const RANKED = { removedAt: null, hiddenAt: null } as const;

/** The UTC days whose votes count, oldest first: `lastDay` and the 29 before. */
export function rankingDays(lastDay: string): string[] {
  return Array.from({ length: RANKING_DAYS }, (_, i) => addDays(lastDay, i - RANKING_DAYS + 1));
}

/** These days by month: `2026-11` → `['20', '21']`. They can touch three months. */
function byMonth(days: string[]): Map<string, string[]> {
  const months = new Map<string, string[]>();
  for (const day of days) {
    const month = day.slice(0, 7);
    months.set(month, [...(months.get(month) ?? []), day.slice(8)]);
  }
  return months;
}

/**
 * The ranking (design, "Periods and figures"): votes descending, then probed uptime (none last), then the older
 * listing, then the lower id. Runs on `servers`; yields `{_id, votesCount, probedUptime, place, …}` where `place` is the
 * rank, from 1 without gaps. The counters are summed once for all servers, which is cheaper than a lookup for each.
 *
 * @param lastDay - the newest UTC day whose votes count
 * @param listed - the filter of the servers to rank
 */
export function rankingPipeline(lastDay: string, listed: Filter<Server>): Document[] {
  const months = byMonth(rankingDays(lastDay));
  // A day without votes is missing and counts as 0.
  const votesOf = [...months].map(([month, days]) => ({
    $cond: [{ $eq: ['$month', month] }, { $sum: days.map((day) => `$days.${day}`) }, 0],
  }));
  return [
    { $match: listed },
    {
      $project: {
        listedAt: 1,
        rankPosition: 1,
        probedUptime: { $ifNull: ['$daily.probedUptime', null] },
        ranked: 1,
      },
    },
    {
      $unionWith: {
        coll: 'vote_counters',
        pipeline: [
          { $match: { month: { $in: [...months.keys()] } } },
          { $project: { _id: '$serverId', votes: { $sum: votesOf } } },
        ],
      },
    },
    {
      $group: {
        _id: '$_id',
        votesCount: { $sum: '$votes' },
        probedUptime: { $max: '$probedUptime' },
        listedAt: { $max: '$listedAt' },
        rankPosition: { $max: '$rankPosition' },
        ranked: { $max: '$ranked' },
      },
    },
    // Removes counters of servers that are not ranked.
    { $match: { listedAt: { $ne: null } } },
    {
      $setWindowFields: {
        sortBy: { votesCount: -1, probedUptime: -1, listedAt: 1, _id: 1 },
        // $documentNumber sorts by one field only.
        output: { place: { $sum: 1, window: { documents: ['unbounded', 'current'] } } },
      },
    },
  ];
}
