import type { Collection, Filter, ObjectId } from 'mongodb';
import { attemptLeaseMs } from '../../listeners/delivery-limits.ts';
import { outcome } from '../../listeners/outcomes.ts';
import type { BatchLoader } from '../../platform/batching/batcher.ts';
import { anyOf } from '../../platform/batching/find-loader.ts';
import { BY_STATE, type Vote } from '../../votes/vote.ts';
import { answerStepOf, type RecordDeps } from './attempt-record.ts';
import { type Ended, recordOutcomes } from './record-outcomes.ts';

/** If the lease of an attempt has expired by mongod's clock, the attempt is lost: this filter finds its vote. */
const LOST = { 'delivery.state': 'sending', $expr: { $lt: ['$delivery.leaseUntil', '$$NOW'] } } as const;

/** Finds, with one query, which servers have votes that match `such` (by default lost attempts). Returns hex ids. */
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

export const hasLostAttempts: BatchLoader<Collection<Vote>, ObjectId, boolean> = {
  most: 200,
  async load(votes, serverIds) {
    const found = await serversWith(votes, serverIds);
    return serverIds.map((id) => found.has(id.toHexString()));
  },
};

/**
 * Records a server's lost attempts as ambiguous, at most 1,000: each vote may have arrived (design rule 4). An attempt
 * is lost if its worker died or was cut off, or if the program that fetched the vote reported nothing.
 *
 * @returns the attempts that were ended, for the breaker
 */
export async function endLostAttempts(recording: RecordDeps, serverId: ObjectId): Promise<Ended[]> {
  const lost = await recording.votes
    .find({ serverId, 'delivery.queuedAt': { $exists: true }, ...LOST })
    .sort({ 'delivery.queuedAt': 1 })
    .limit(1_000)
    .toArray();
  const ended = lost.flatMap((vote): Ended[] => {
    const attempt = vote.delivery.attempts.at(-1);
    if (!attempt) return [];
    const taken = { vote, attempt };
    const durationMs = attempt.leaseMs ?? attemptLeaseMs(recording.config, answerStepOf(taken));
    const endedAt = attempt.at.getTime() + durationMs;
    return [{ taken, outcome: outcome('lease-ran-out', 'none'), durationMs, endedAt }];
  });
  const counted = await recordOutcomes(recording, ended);
  return ended.filter((_, index) => counted[index]);
}
