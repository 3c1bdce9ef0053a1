import { dueAggregates } from '../history/due-aggregates.ts';
import { after, DAY, HOUR } from '../platform/clock.ts';
import { addDays, dayOf, dueDays, markDone, startOf } from '../platform/periods/period-marks.ts';
import type { ActiveLease } from '../platform/periods/work-lease.ts';
import { type Ranking, rankingPipeline } from './ranking-pipeline.ts';

/** The mark of days whose places are kept. */
const RANK_SNAPSHOT = 'rank-snapshot';

/** By then a day's votes are counted. */
const AFTER_DAY_MS = HOUR;

/**
 * Keeps the places at the end of yesterday, once. They follow from yesterday's end, whenever today it is done:
 * votes count by their days, the uptime of the 30 whole days before today stands all day, and the servers are
 * those that were listed then. After downtime that uptime comes late: the places wait until every day is computed,
 * and a later ranking keeps them. Of earlier days the uptime is gone, so a day without any ranking on the next
 * stays a gap.
 */
export async function takeSnapshot(deps: Ranking, lease: ActiveLease): Promise<void> {
  const now = deps.clock.now();
  const today = startOf(dayOf(now));
  if (now < after(today, AFTER_DAY_MS)) return;
  const day = addDays(dayOf(now), -1);
  const due = await dueDays(deps, RANK_SNAPSHOT, { first: day, last: day });
  if (due.length === 0 || (await dueAggregates(deps)).length > 0) return;
  lease.throwIfLost();
  await storeRanks(deps, day);
  await markDone(deps, RANK_SNAPSHOT, day);
  deps.log.info({ event: 'ranks.snapshot', day });
}

/** Writes the places at the end of a UTC day: of the servers listed then, by its counters and the uptime known now. */
export async function storeRanks({ servers }: Pick<Ranking, 'servers'>, day: string): Promise<void> {
  const end = after(startOf(day), DAY);
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
        ...rankingPipeline(day, listed),
        {
          $project: {
            _id: 0,
            serverId: '$_id',
            month: { $literal: month },
            days: { $arrayToObject: [[{ k: { $literal: field }, v: '$place' }]] },
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
