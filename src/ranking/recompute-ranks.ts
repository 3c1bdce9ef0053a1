import type { AnyBulkWriteOperation, Collection, ObjectId } from 'mongodb';
import { dayOf } from '../platform/periods/period-marks.ts';
import { type ActiveLease, lastCompleted, withLease } from '../platform/periods/work-lease.ts';
import type { Server } from '../servers/server.ts';
import type { RankingDeps } from './deps.ts';
import { weighVotes } from './evidence/weigh-votes.ts';
import { takeSnapshot } from './rank-snapshots.ts';
import { RANKED, rankingPipeline } from './ranking-pipeline.ts';
import { writeLists } from './write-lists.ts';

const RECOMPUTE_RANKS = 'recompute-ranks';

/** `servers`: all ranked ones; `moved`: those with a new rank; `weighed`: the days weighed, over all servers. */
export type Ranked = { servers: number; moved: number; weighed: number };

const BULK = 1_000;

type Place = {
  _id: ObjectId;
  rank: number;
  votesCount: number;
  rankVotes: number;
  waiting: number;
  probedUptime: number | null;
  rankPosition: number;
};

/**
 * Ranks every listed server by the published formula, in one process at a time. Once a day, an hour or more after the
 * end of the day before, it also stores the ranks of that day. After a crash, the next run completes the ranking; until
 * then two servers can show the same rank.
 *
 * @throws {LeaseLostError} when the lease is lost; the signal's reason when the run must stop
 */
export function recomputeRanks(
  deps: RankingDeps,
  { signal }: { signal?: AbortSignal } = {},
): Promise<Ranked> {
  return withLease(
    deps,
    RECOMPUTE_RANKS,
    async (lease) => {
      const { first, weighed } = await weighVotes(deps, lease);
      const ranked = await writePlaces(deps, lease, first);
      await writeLists(deps, lease);
      await takeSnapshot(deps, lease, first);
      return { ...ranked, weighed };
    },
    signal ? { signal } : {},
  );
}

async function writePlaces({ servers, clock }: RankingDeps, lease: ActiveLease, first: string) {
  const now = clock.now();
  const figures = {
    $and: [
      { $eq: ['$rank', '$rankPosition'] },
      { $eq: ['$votesCount', '$ranked.votesCount'] },
      { $eq: ['$rankVotes', { $ifNull: ['$ranked.rankVotes', '$ranked.votesCount'] }] },
      { $eq: ['$waiting', { $ifNull: ['$ranked.waiting', 0] }] },
      { $eq: ['$probedUptime', '$ranked.probedUptime'] },
    ],
  };
  const changed = servers.aggregate<Place>(
    [
      ...rankingPipeline(dayOf(now), RANKED, first, now),
      { $match: { $expr: { $not: figures } } },
      { $project: { rank: 1, votesCount: 1, rankVotes: 1, waiting: 1, probedUptime: 1, rankPosition: 1 } },
    ],
    { allowDiskUse: true, batchSize: BULK },
  );
  let moved = 0;
  let writes: AnyBulkWriteOperation<Server>[] = [];
  const write = async () => {
    if (writes.length === 0) return;
    lease.throwIfLost();
    await servers.bulkWrite(writes, { ordered: false });
    writes = [];
  };
  for await (const { _id, rank, votesCount, rankVotes, waiting, probedUptime, rankPosition } of changed) {
    if (rank !== rankPosition) moved += 1;
    const ranked = {
      votesCount,
      probedUptime,
      ...(rankVotes === votesCount ? {} : { rankVotes }),
      ...(waiting > 0 ? { waiting } : {}),
    };
    const update = { $set: { rankPosition: rank, ranked } };
    writes.push({ updateOne: { filter: { _id }, update } });
    if (writes.length === BULK) await write();
  }
  await write();
  const ranked = await servers.countDocuments(RANKED);
  lease.throwIfLost();
  await putHiddenLast(servers, ranked + 1);
  return { servers: ranked, moved };
}

/** All of them get the number after the last rank, which the API returns for them. */
async function putHiddenLast(servers: Collection<Server>, rankPosition: number): Promise<void> {
  await servers.updateMany(
    {
      hiddenAt: { $type: 'date' },
      removedAt: null,
      $or: [{ rankPosition: { $ne: rankPosition } }, { ranked: { $ne: null } }],
    },
    { $set: { rankPosition, ranked: null } },
  );
}

export function rankedAt(deps: RankingDeps): Promise<Date | null> {
  return lastCompleted(deps, RECOMPUTE_RANKS);
}
