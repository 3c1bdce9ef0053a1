import type { Document, Filter } from 'mongodb';
import { addDays } from '../platform/periods/period-marks.ts';
import { wasPaused } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';
import { RANKING_DAYS } from '../votes/ranking-period.ts';

/** `lastDay` and the 29 before, oldest first. */
export function rankingDays(lastDay: string): string[] {
  return Array.from({ length: RANKING_DAYS }, (_, i) => addDays(lastDay, i - RANKING_DAYS + 1));
}

export const RANKED = { removedAt: null, hiddenAt: null } as const;

/** `2026-11` → `['20', '21']`. */
function byMonth(days: string[]): Map<string, string[]> {
  const months = new Map<string, string[]>();
  for (const day of days) {
    const month = day.slice(0, 7);
    months.set(month, [...(months.get(month) ?? []), day.slice(8)]);
  }
  return months;
}

/**
 * Runs on `servers`. The order is: servers that were not paused at `at` first; the weight of the votes, highest first; probed uptime, highest first and unknown
 * last; `listedAt`, earliest first; the lower id. `rank` begins at 1 and has no gaps. The counters are summed once for
 * all servers, which is cheaper than a lookup for each. `first`: the first UTC day whose votes are weighed
 * (`firstWeighedDay`); null if no day is weighed.
 */
export function rankingPipeline(
  lastDay: string,
  listed: Filter<Server>,
  first: string | null,
  at: Date,
): Document[] {
  const months = byMonth(rankingDays(lastDay));
  // A missing day counts as 0: no votes in `days`, all votes in full in `less` and `waiting`.
  const sumOf = (figure: 'days' | 'less' | 'waiting', from: string | null) => ({
    $sum: [...months].map(([month, days]) => {
      const of = days.filter((day) => from !== null && `${month}-${day}` >= from);
      const sum = { $sum: of.map((day) => `$${figure}.${day}`) };
      const isThere = figure === 'days' ? true : { $gt: [`$${figure}`, null] };
      return { $cond: [{ $and: [{ $eq: ['$month', month] }, isThere] }, sum, 0] };
    }),
  });
  return [
    { $match: listed },
    {
      $project: {
        listedAt: 1,
        rankPosition: 1,
        probedUptime: { $ifNull: ['$daily.probedUptime', null] },
        ranked: 1,
        isPaused: wasPaused(at),
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
              votes: sumOf('days', ''),
              less: sumOf('less', first),
              waiting: sumOf('waiting', first),
            },
          },
        ],
      },
    },
    {
      $group: {
        _id: '$_id',
        votesCount: { $sum: '$votes' },
        less: { $sum: '$less' },
        waiting: { $sum: '$waiting' },
        probedUptime: { $max: '$probedUptime' },
        listedAt: { $max: '$listedAt' },
        rankPosition: { $max: '$rankPosition' },
        ranked: { $max: '$ranked' },
        isPaused: { $max: '$isPaused' },
      },
    },
    { $match: { listedAt: { $ne: null } } },
    { $set: { tenths: { $max: [0, { $subtract: [{ $multiply: [10, '$votesCount'] }, '$less'] }] } } },
    {
      $setWindowFields: {
        sortBy: { isPaused: 1, tenths: -1, probedUptime: -1, listedAt: 1, _id: 1 },
        // `$documentNumber` accepts only one sort field, so the rank is a running sum.
        output: { rank: { $sum: 1, window: { documents: ['unbounded', 'current'] } } },
      },
    },
    { $set: { rankVotes: { $divide: ['$tenths', 10] } } },
  ];
}
