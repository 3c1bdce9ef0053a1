import type { Filter, WithId } from 'mongodb';
import { monthsBefore } from '../../platform/periods/period-marks.ts';
import type { Server } from '../../servers/server.ts';
import {
  ACTIONS_WITH_NAMES,
  ERASED_PLAYER,
  FINISHED_EXCLUSION,
  namelessId,
  namelessKey,
  openVotesFilter,
  removeName,
} from '../../votes/nameless.ts';
import type { Vote } from '../../votes/vote.ts';
import type { WorkflowsDeps } from '../deps.ts';

type Named = Pick<WithId<Vote>, '_id' | 'serverId' | 'usernameKey' | 'votedAt'>;

const BATCH = 500;
const AT_ONCE = 25;

/**
 * Those that are `KEEP_PLAYER_NAMES_MONTHS` old on the UTC `day`. The votes still count. Each server's `votesNamedSince`
 * stores the progress, from which an interrupted run is continued. @throws the signal's reason when it is aborted
 */
export async function forgetNames(
  deps: WorkflowsDeps,
  day: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<number> {
  const months = deps.config.KEEP_PLAYER_NAMES_MONTHS;
  if (months === 0) return 0;
  const before = monthsBefore(day, months);
  let forgotten = 0;
  const servers = await deps.servers.find({}, { projection: { votesNamedSince: 1 } }).toArray();
  for (const { _id, votesNamedSince } of servers) {
    const server = { _id, votesNamedSince: votesNamedSince ?? null };
    forgotten += await forgetNamesOf(deps, server, before, signal);
  }
  await deps.auditLog.updateMany(
    { action: { $in: ACTIONS_WITH_NAMES }, at: { $lt: before }, 'details.username': { $exists: true } },
    { $unset: { 'details.username': 1 } },
  );
  await deps.voteExclusions.updateMany(
    { ...FINISHED_EXCLUSION, at: { $lt: before }, usernameKey: { $exists: true } },
    { $set: { username: ERASED_PLAYER }, $unset: { usernameKey: '' } },
  );
  return forgotten;
}

async function forgetNamesOf(
  deps: WorkflowsDeps,
  server: { _id: Server['_id']; votesNamedSince: Date | null },
  before: Date,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { _id: serverId, votesNamedSince: since } = server;
  if (since && since >= before) return 0;
  const found = deps.votes
    .find<Named>(
      { serverId, votedAt: { ...(since ? { $gte: since } : {}), $lt: before } },
      { projection: { serverId: 1, usernameKey: 1, votedAt: 1 } },
    )
    .sort({ votedAt: 1 })
    .batchSize(BATCH);
  const open = await openVotesFilter(deps, serverId);
  const end = { done: since, kept: null as Date | null, forgotten: 0 };
  /** Returns false if an import or another run changed the progress meanwhile. */
  const advance = async (to: Date) => {
    const unchanged = { _id: serverId, votesNamedSince: end.done };
    const { matchedCount } = await deps.servers.updateOne(unchanged, { $set: { votesNamedSince: to } });
    end.done = to;
    return matchedCount === 1;
  };
  for await (const votes of batches(found)) {
    signal?.throwIfAborted();
    const result = await forgetBatch(deps, votes, open);
    end.forgotten += result.forgotten;
    end.kept ??= result.kept;
    // If a vote still needs its name, the next run begins with the oldest such vote.
    if (!(await advance(end.kept ?? (votes.at(-1) as Named).votedAt))) return end.forgotten;
  }
  await advance(end.kept ?? before);
  return end.forgotten;
}

async function* batches(found: AsyncIterable<Named>): AsyncGenerator<Named[]> {
  let batch: Named[] = [];
  for await (const vote of found) {
    batch.push(vote);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** `kept`: the time of the oldest vote that keeps its name, because its delivery or its quarantine is open. */
async function forgetBatch(
  { votes, clock }: WorkflowsDeps,
  batch: Named[],
  open: Filter<Vote>,
): Promise<{ forgotten: number; kept: Date | null }> {
  const named = batch.filter(({ usernameKey }) => namelessId(usernameKey) === null);
  const now = clock.now();
  let forgotten = 0;
  let kept: Date | null = null;
  for (let start = 0; start < named.length; start += AT_ONCE) {
    const some = named.slice(start, start + AT_ONCE);
    // A key of its own for each vote, so nobody can find out which votes are of the same player.
    const changed = await Promise.all(
      some.map((vote) => removeName(votes, vote, namelessKey(vote._id.toString()), { now, open })),
    );
    forgotten += changed.filter(Boolean).length;
    kept ??= some.find((_, index) => !changed[index])?.votedAt ?? null;
  }
  return { forgotten, kept };
}
