import { MAX_CONCURRENT_ATTEMPTS, maxSendingsOf } from '../../listeners/delivery-limits.ts';
import { outcome } from '../../listeners/outcomes.ts';
import type { Batcher } from '../../platform/batching/batcher.ts';
import { DURABLE } from '../../platform/mongo.ts';
import type { Attempt, Vote } from '../../votes/vote.ts';
import type { Taken, TakeReason } from './attempt-record.ts';
import { newAttempt, QUEUE_ORDER, type RecordDeps, takenVote, withoutAttempt } from './attempt-record.ts';
import { recordOutcomes } from './record-outcomes.ts';
import {
  dueVotesLoader,
  hasLease,
  type Leased,
  type SharedTake,
  sharedLargeTakes,
  sharedTakes,
} from './shared-takes.ts';

/**
 * How many votes to take, and how many of them are sent at once. A vote that had an ambiguous outcome, or that may be
 * sent only once, is taken only if it is sent at once. If such a vote waited and the worker died, it could become
 * `unconfirmed` although it was never sent.
 */
type TakeSize = { most: number; atOnce: number };

/**
 * Takes the next votes of a listener in queue order: one durable write records an attempt on each before anything is
 * sent (design rule 4). The write itself compares the listener's lease with mongod's clock, so a worker that was
 * suspended for longer than its lease takes nothing.
 *
 * @param toGiveBack - called before this throws, with votes that may have been taken and could not be given back
 * @returns the votes in queue order; none when no vote is due, or none may be taken
 * @throws the driver's error when MongoDB fails; votes that may have been taken are given back if possible
 */
export async function takeVotes(
  recording: RecordDeps & { batcher: Batcher },
  listener: Leased,
  reason: TakeReason,
  { most, atOnce }: TakeSize,
  toGiveBack: (taken: Taken[]) => void = () => undefined,
): Promise<Taken[]> {
  const { votes, clock, batcher, processId } = recording;
  const { serverId } = listener;
  const asked = { listener, test: reason.test, most, clock };
  const { found, now } = await batcher.load(dueVotesLoader, votes, asked);
  const isSentOnce = maxSendingsOf(listener) === 1;
  const firstNotDue = found.findIndex(({ delivery }, index) => {
    return index >= atOnce && (isSentOnce || delivery.ambiguousEnds > 0);
  });
  const next = firstNotDue === -1 ? found : found.slice(0, firstNotDue);
  if (next.length === 0) return [];

  const take: SharedTake = {
    recording,
    listener,
    reason,
    now,
    next,
    attempt: newAttempt(processId, listener, reason, now),
  };
  const ids = next.map(({ _id }) => _id);
  try {
    const loader = ids.length > MAX_CONCURRENT_ATTEMPTS ? sharedLargeTakes : sharedTakes;
    const isWhole = await batcher.load(loader, votes, take);
    const { attempt } = take;
    const taken = isWhole ? next : await takenBy(recording, serverId, ids, attempt);
    const isTaken = new Set(taken.map(({ _id }) => _id.toString()));
    return next.filter(({ _id }) => isTaken.has(_id.toString())).map((vote) => takenVote(vote, attempt));
  } catch (error) {
    await giveBackAfterFailure(recording, listener, ids, take.attempt).catch(() =>
      toGiveBack(next.map((vote) => takenVote(vote, take.attempt))),
    );
    throw error;
  }
}

/** The votes on which this attempt was recorded, in queue order. */
export function takenBy(
  { votes }: Pick<RecordDeps, 'votes'>,
  serverId: Vote['serverId'],
  ids: Vote['_id'][],
  { id }: Attempt,
): Promise<Vote[]> {
  const own = { 'delivery.state': 'sending', 'delivery.attempts.id': id } as const;
  return votes.find({ serverId, _id: { $in: ids }, ...own }, { sort: QUEUE_ORDER }).toArray();
}

/** Gives back the votes that were taken although the write reported an error. None of them was sent. */
async function giveBackAfterFailure(
  recording: RecordDeps & { batcher: Batcher },
  listener: Leased,
  ids: Vote['_id'][],
  attempt: Attempt,
): Promise<void> {
  const taken = await takenBy(recording, listener.serverId, ids, attempt);
  await giveBackVotes(
    recording,
    listener,
    taken.map((vote) => ({ vote, attempt })),
  );
}

/**
 * Gives back taken votes that were not sent: they get their queue position back, as if they had never been taken,
 * while the worker owns the listener's lease. If the lease has expired, another worker may have sent later votes, so
 * these attempts are recorded as stopped before anything was sent. An attempt whose own lease has expired is
 * unchanged.
 */
export async function giveBackVotes(
  recording: RecordDeps & { batcher: Batcher },
  listener: Pick<Leased, 'serverId' | 'lease'>,
  taken: Taken[],
): Promise<void> {
  if (taken.length === 0) return;
  const { votes, clock } = recording;
  const { serverId } = listener;
  // The last vote in the queue comes first: if this is interrupted, no later vote has an attempt while an earlier one
  // has none.
  const lastFirst = taken.toSorted((a, b) => byQueueOrder(b.vote, a.vote));
  const updates = lastFirst.map(({ vote: { _id }, attempt: { id } }) => {
    const open = { $elemMatch: { id, code: { $exists: false } } };
    const filter = {
      serverId,
      _id,
      'delivery.state': 'sending',
      'delivery.attempts': open,
      ...hasLease(listener.lease),
    } as const;
    return { updateOne: { filter, update: withoutAttempt(id, clock.now()) } };
  });
  const { modifiedCount } = await votes.bulkWrite(updates, { ordered: true, writeConcern: DURABLE });
  if (modifiedCount < taken.length) await recordStopped(recording, serverId, taken);
}

function byQueueOrder(a: Vote, b: Vote): number {
  const [first, second] = [a.delivery.queuedAt ?? a.votedAt, b.delivery.queuedAt ?? b.votedAt];
  return first.getTime() - second.getTime() || a._id.toString().localeCompare(b._id.toString());
}

/** Records attempts without an outcome as stopped before anything was sent. */
async function recordStopped(
  recording: RecordDeps & { batcher: Batcher },
  serverId: Vote['serverId'],
  taken: Taken[],
): Promise<void> {
  const { votes, clock } = recording;
  const _id = { $in: taken.map(({ vote }) => vote._id) };
  const ours = new Set(taken.map(({ attempt }) => attempt.id.toString()));
  const left = await votes.find({ serverId, _id, 'delivery.state': 'sending' }).toArray();
  const stopped = outcome('stopped-before-written', 'none');
  const ended = left.flatMap((vote) => {
    const attempt = vote.delivery.attempts.at(-1);
    if (!attempt || !ours.has(attempt.id.toString())) return [];
    const endedAt = Math.max(clock.now().getTime(), attempt.at.getTime());
    const durationMs = endedAt - attempt.at.getTime();
    return [{ taken: { vote, attempt }, outcome: stopped, durationMs, endedAt }];
  });
  await recordOutcomes(recording, ended);
}
