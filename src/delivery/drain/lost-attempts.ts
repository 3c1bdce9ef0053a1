import type { Collection, Document, Filter, ObjectId } from 'mongodb';
import { attemptLeaseMs } from '../../listeners/delivery-limits.ts';
import type { Listener } from '../../listeners/listener.ts';
import { outcome } from '../../listeners/outcomes.ts';
import type { BatchLoader } from '../../platform/batching/batcher.ts';
import { anyOf } from '../../platform/batching/find-loader.ts';
import { LEASES, type Vote } from '../../votes/vote.ts';
import { asAllowedNow } from './after-attempt.ts';
import { answerStepOf, type RecordDeps } from './attempt-record.ts';
import { type Ended, recordOutcomes } from './record-outcomes.ts';

/** The lease of the attempt has expired by mongod's clock. */
const LOST = {
  'delivery.leaseUntil': { $exists: true },
  $expr: { $lt: ['$delivery.leaseUntil', '$$NOW'] },
} as const;

/** Hex ids, by one query. */
export const serversWithLost = (votes: Collection<Vote>, serverIds: ObjectId[]) =>
  serversWith(votes, serverIds, LOST, LEASES);

/** As above. If the index `hint` has all fields of `such`, each in one range, it costs one seek for each server. */
export async function serversWith(
  votes: Collection<Vote>,
  serverIds: ObjectId[],
  such: Filter<Vote>,
  hint: Document | string,
): Promise<Set<string>> {
  const groups = await votes
    .aggregate<{ _id: ObjectId }>(
      [{ $match: { serverId: anyOf(serverIds), ...such } }, { $group: { _id: '$serverId' } }],
      { hint },
    )
    .toArray();
  return new Set(groups.map(({ _id }) => _id.toHexString()));
}

export const hasLostAttempts: BatchLoader<Collection<Vote>, ObjectId, boolean> = {
  most: 200,
  async load(votes, serverIds) {
    const found = await serversWithLost(votes, serverIds);
    return serverIds.map((id) => found.has(id.toHexString()));
  },
};

/**
 * Records lost attempts as ambiguous, at most 1,000: each vote may have arrived (design rule 4). The worker died or was
 * cut off, or the program that fetched the vote reported nothing. Returns those that were ended, for the breaker.
 */
export async function endLostAttempts(
  recording: RecordDeps,
  serverId: ObjectId,
  listener: Pick<Listener, 'maxSendings'> | null,
): Promise<Ended[]> {
  const lost = await recording.votes
    .find({ serverId, 'delivery.state': 'sending', ...LOST })
    .hint(LEASES)
    .sort({ 'delivery.leaseUntil': 1 })
    .limit(1_000)
    .toArray();
  const ended = lost.flatMap((vote): Ended[] => {
    const attempt = vote.delivery.attempts.at(-1);
    if (!attempt) return [];
    const taken = listener ? asAllowedNow({ vote, attempt }, listener) : { vote, attempt };
    const durationMs = attempt.leaseMs ?? attemptLeaseMs(recording.config, answerStepOf(taken));
    const endedAt = attempt.at.getTime() + durationMs;
    return [{ taken, outcome: outcome('lease-ran-out', 'none'), durationMs, endedAt }];
  });
  const counted = await recordOutcomes(recording, ended);
  return ended.filter((_, index) => counted[index]);
}
