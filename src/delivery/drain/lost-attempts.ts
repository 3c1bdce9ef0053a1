import type { Collection, Filter, ObjectId } from 'mongodb';
import { outcome } from '../../listeners/outcomes.ts';
import type { Batcher, BatchLoader } from '../../platform/batching/batcher.ts';
import { anyOf } from '../../platform/batching/find-loader.ts';
import { BY_STATE, type Vote } from '../../votes/vote.ts';
import type { RecordDeps } from './attempt-record.ts';
import { leaseMsOf } from './attempt-record.ts';
import { type Ended, recordOutcomes } from './record-outcomes.ts';

/** Votes that are being sent and whose lease has expired, by mongod's clock: the attempt is lost. */
const LOST = { 'delivery.state': 'sending', $expr: { $lt: ['$delivery.leaseUntil', '$$NOW'] } } as const;

/**
 * Which of these servers have votes that match the filter `such`, by default lost attempts; usually none. One query
 * for all servers.
 */
export async function serversWith(
  votes: Collection<Vote>,
  serverIds: ObjectId[],
  such: Filter<Vote> = LOST,
): Promise<Set<string>> {
  const groups = await votes
    .aggregate<{ _id: ObjectId }>(
      [{ $match: { serverId: anyOf(serverIds), ...such } }, { $group: { _id: '$serverId' } }],
      { hint: BY_STATE },
    )
    .toArray();
  return new Set(groups.map(({ _id }) => _id.toHexString()));
}

/** Whether a server has lost attempts; concurrent calls share one query. */
export const hasLostAttempts: BatchLoader<Collection<Vote>, ObjectId, boolean> = {
  most: 200,
  async load(votes, serverIds) {
    const found = await serversWith(votes, serverIds);
    return serverIds.map((id) => found.has(id.toHexString()));
  },
};

/**
 * If the lease of an attempt has expired, the worker died or was cut off, or the program that took the vote reported
 * nothing: the attempt is recorded as ambiguous, because the vote may have arrived. Leases go by mongod's clock.
 *
 * @returns the attempts that were ended, for the breaker
 */
export async function endLostAttempts(
  recording: RecordDeps & { batcher: Batcher },
  serverId: ObjectId,
): Promise<Ended[]> {
  const lost = await recording.votes
    .find({ serverId, 'delivery.queuedAt': { $exists: true }, ...LOST })
    .sort({ 'delivery.queuedAt': 1 })
    .limit(1_000)
    .toArray();
  const ended = lost.flatMap((vote): Ended[] => {
    const attempt = vote.delivery.attempts.at(-1);
    if (!attempt) return [];
    const taken = { vote, attempt };
    const durationMs = leaseMsOf(recording.config, taken);
    const endedAt = attempt.at.getTime() + durationMs;
    return [{ taken, outcome: outcome('lease-ran-out', 'none'), durationMs, endedAt }];
  });
  const counted = await recordOutcomes(recording, ended);
  return ended.filter((_, index) => counted[index]);
}
