import type { Collection, Document, Filter } from 'mongodb';
import type { Logger } from '../platform/log.ts';
import type { Leasing } from '../platform/periods/work-lease.ts';
import type { ReviewList } from '../reviews/review.ts';
import type { Server } from '../servers/server.ts';
import { ALWAYS_FULL } from './evidence/due-days.ts';
import type { Weighing } from './evidence/weigh-votes.ts';
import type { RankSnapshot } from './rank-snapshot.ts';
import type { ListingSummary, RankedList } from './ranked-list.ts';
import { rankingDays } from './ranking-days.ts';

/** The dependencies of a ranking. */
export type Ranking = Leasing &
  Weighing & {
    reviewLists: Collection<ReviewList>;
    rankSnapshots: Collection<RankSnapshot>;
    rankedLists: Collection<RankedList>;
    listingSummary: Collection<ListingSummary>;
    log: Logger;
  };

/** The filter of servers that are ranked. */
export const RANKED = { removedAt: null, hiddenAt: null } as const;

/** These days by month: `2026-11` → `['20', '21']`. They can touch three months. */
function byMonth(days: string[]): Map<string, string[]> {
  const months = new Map<string, string[]>();
  for (const day of days) {
    const month = day.slice(0, 7);
    months.set(month, [...(months.get(month) ?? []), day.slice(8)]);
  }
  return months;
}

/** The figures of a day of a counter: its votes, and by the rule that weighs them their tenths and those that wait. */
function figuresOfDay(day: string, first: string | null) {
  const [votes, weighed] = [{ $ifNull: [`$days.${day.slice(8)}`, 0] }, `$weighed.${day.slice(8)}`];
  if (first === null || day < first) return { votes, tenths: { $multiply: [10, votes] }, waiting: 0 };
  // Votes since the day was last weighed count with the next ranking. Without any weight only those that always count do.
  const known = { $ifNull: [`${weighed}.tenths`, 10 * ALWAYS_FULL] };
  const tenths = {
    $cond: [
      { $lte: [votes, ALWAYS_FULL] },
      { $multiply: [10, votes] },
      { $min: [{ $multiply: [10, votes] }, known] },
    ],
  };
  return { votes, tenths, waiting: { $ifNull: [`${weighed}.waiting`, 0] } };
}

/**
 * The ranking (design, "Periods and figures"): what the votes weigh descending, then probed uptime (none last), then the
 * older listing, then the lower id. Runs on `servers`; yields `{_id, votesCount, rankVotes, waiting, probedUptime, place,
 * …}` where `place` is the rank, from 1 without gaps. The counters are summed once for all servers, which is cheaper than
 * a lookup for each.
 *
 * @param lastDay - the newest UTC day whose votes count
 * @param listed - the filter of the servers to rank
 * @param first - the first UTC day whose votes are weighed (`firstWeighedDay`); null: none is
 */
export function rankingPipeline(lastDay: string, listed: Filter<Server>, first: string | null): Document[] {
  const months = byMonth(rankingDays(lastDay));
  const sumOf = (figure: 'votes' | 'tenths' | 'waiting') => ({
    $sum: [...months].map(([month, days]) => ({
      $cond: [
        { $eq: ['$month', month] },
        { $sum: days.map((day) => figuresOfDay(`${month}-${day}`, first)[figure]) },
        0,
      ],
    })),
  });
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
          {
            $project: {
              _id: '$serverId',
              votes: sumOf('votes'),
              tenths: sumOf('tenths'),
              waiting: sumOf('waiting'),
            },
          },
        ],
      },
    },
    {
      $group: {
        _id: '$_id',
        votesCount: { $sum: '$votes' },
        tenths: { $sum: '$tenths' },
        waiting: { $sum: '$waiting' },
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
        sortBy: { tenths: -1, probedUptime: -1, listedAt: 1, _id: 1 },
        // $documentNumber sorts by one field only.
        output: { place: { $sum: 1, window: { documents: ['unbounded', 'current'] } } },
      },
    },
    { $set: { rankVotes: { $divide: ['$tenths', 10] } } },
  ];
}
