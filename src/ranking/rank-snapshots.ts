import type { ObjectId } from 'mongodb';
import { dueAggregates } from '../history/due-aggregates.ts';
import { anyOf } from '../platform/batching/find-loader.ts';
import { after, DAY, HOUR } from '../platform/clock.ts';
import { addDays, dayOf, dueDays, markDone, startOfDay } from '../platform/periods/period-marks.ts';
import type { ActiveLease } from '../platform/periods/work-lease.ts';
import type { RankingDeps } from './deps.ts';
import { rankingPipeline } from './ranking-pipeline.ts';

/** The period mark of days whose ranks are stored. */
export const RANK_SNAPSHOT = 'rank-snapshot';

/** A day's ranks are stored at least this long after its end: all its votes are counted by then. */
const AFTER_DAY_MS = HOUR;

/**
 * Stores the ranks at the end of yesterday, once. Any time today gives the same result: votes count by their days, the
 * uptime covers the 30 whole days before today, and the servers are those that were listed at the end of yesterday. If
 * daily statistics are missing after downtime: a later ranking today stores the ranks. The uptime that counted on
 * earlier days is not stored, so a day without a ranking on the next day stays a gap.
 */
export async function takeSnapshot(deps: RankingDeps, lease: ActiveLease, first: string): Promise<void> {
  const now = deps.clock.now();
  const today = startOfDay(dayOf(now));
  if (now < after(today, AFTER_DAY_MS)) return;
  const day = addDays(dayOf(now), -1);
  const due = await dueDays(deps, RANK_SNAPSHOT, { first: day, last: day });
  if (due.length === 0 || (await dueAggregates(deps)).length > 0) return;
  lease.throwIfLost();
  await storeRanks(deps, day, first);
  await markDone(deps, RANK_SNAPSHOT, day);
  deps.log.info({ event: 'ranks.snapshot', day });
}

/**
 * For the servers listed and not paused then, by the votes up to that day and the current uptime. `first`: as in `rankingPipeline`.
 */
export async function storeRanks({ servers }: RankingDeps, day: string, first: string | null): Promise<void> {
  const end = after(startOfDay(day), DAY);
  const month = day.slice(0, 7);
  const field = day.slice(8);
  const listed = {
    listedAt: { $lt: end },
    $and: [
      { $or: [{ removedAt: null }, { removedAt: { $gte: end } }] },
      { $or: [{ hiddenAt: null }, { hiddenAt: { $gte: end } }] },
    ],
  };
  await servers
    .aggregate(
      [
        ...rankingPipeline(day, listed, first, after(end, -1)),
        { $match: { isPaused: false } },
        {
          $project: {
            _id: 0,
            serverId: '$_id',
            month: { $literal: month },
            days: { $arrayToObject: [[{ k: { $literal: field }, v: '$rank' }]] },
          },
        },
        {
          $merge: {
            into: 'rank_snapshots',
            on: ['serverId', 'month'],
            whenMatched: [{ $set: { days: { $mergeObjects: ['$days', '$$new.days'] } } }],
            whenNotMatched: 'insert',
          },
        },
      ],
      { allowDiskUse: true },
    )
    .toArray();
}

/** At the end of each UTC day, oldest first; days without a snapshot are missing. */
export async function rankHistory({ rankSnapshots }: RankingDeps, serverId: ObjectId) {
  const months = await rankSnapshots.find({ serverId }).sort({ month: 1 }).toArray();
  return months.flatMap(({ month, days }) =>
    Object.entries(days)
      .map(([day, rank]) => ({ day: `${month}-${day}`, rank }))
      .toSorted((a, b) => (a.day < b.day ? -1 : 1)),
  );
}

/** The ranks of these servers at the end of a UTC day, by server; without those that have no snapshot of it. */
export async function ranksAfter(
  { rankSnapshots }: Pick<RankingDeps, 'rankSnapshots'>,
  serverIds: ObjectId[],
  day: string,
): Promise<Map<string, number>> {
  const [month, field] = [day.slice(0, 7), day.slice(8)];
  const found = await rankSnapshots
    .find({ serverId: anyOf(serverIds), month }, { projection: { serverId: 1, [`days.${field}`]: 1 } })
    .toArray();
  return new Map(
    found.flatMap(({ serverId, days }) => {
      const rank = days[field];
      return rank === undefined ? [] : [[serverId.toHexString(), rank] as const];
    }),
  );
}
