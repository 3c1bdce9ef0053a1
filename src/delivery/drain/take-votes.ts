import { MAX_CONCURRENT_ATTEMPTS, maxSendingsOf } from '../../listeners/delivery-limits.ts';
import { outcome } from '../../listeners/outcomes.ts';
import { DURABLE } from '../../platform/mongo.ts';
import type { Attempt, Vote } from '../../votes/vote.ts';
import {
  type ListenerOfTake,
  newAttempt,
  type RecordDeps,
  type Taken,
  type TakeReason,
  takenVote,
  withoutAttempt,
} from './attempt-record.ts';
import { endedAt, recordOutcomes } from './record-outcomes.ts';
import { readAllowed } from './sent-votes.ts';
import { dueVotesLoader, hasLease, type SharedTake, sharedLargeTakes, sharedTakes } from './shared-takes.ts';

/** `atOnce`: how many are sent at once. */
type TakeSize = { most: number; atOnce: number };

/**
 * If the worker, or the program that fetches, dies while a taken vote waits for its turn, its attempt counts as
 * ambiguous although nothing was sent. So a vote with more ambiguous outcomes than `mostEnds` is taken only if sent at
 * once.
 */
export function takenTogether(found: Vote[], atOnce: number, mostEnds: number): Vote[] {
  const firstNotTaken = found.findIndex(({ delivery }, index) => {
    return index >= atOnce && delivery.ambiguousEnds > mostEnds;
  });
  return firstNotTaken === -1 ? found : found.slice(0, firstNotTaken);
}

/**
 * One durable write records an attempt on each vote before anything is sent (design rule 4), in queue order. It
 * compares the lease with mongod's clock: a worker that was suspended for longer takes no vote.
 *
 * @param toGiveBack - called before this throws, with votes that may have been taken and could not be given back
 */
export async function takeVotes(
  recording: RecordDeps,
  listener: ListenerOfTake,
  reason: TakeReason,
  { most, atOnce }: TakeSize,
  toGiveBack: (taken: Taken[]) => void = () => undefined,
): Promise<Taken[]> {
  const { votes, clock, batcher, processId } = recording;
  const asked = { listener, test: reason.test, clock };
  let now = clock.now();
  const due = await readAllowed(votes, listener, most, async (limit) => {
    const read = await batcher.load(dueVotesLoader, votes, { ...asked, most: limit });
    now = read.now;
    return read.found;
  });
  // So at most one attempt of a vote is wasted, and none of a vote that may be sent only once.
  const next = takenTogether(due, atOnce, maxSendingsOf(listener) === 1 ? -1 : 0);
  if (next.length === 0) return [];

  const attempt = newAttempt(processId, listener, reason, now);
  const take: SharedTake = { recording, listener, reason, now, next, attempt };
  try {
    const loader = next.length > MAX_CONCURRENT_ATTEMPTS ? sharedLargeTakes : sharedTakes;
    const isWhole = await batcher.load(loader, votes, take);
    // Read after the write, which may put the attempt of another take into it.
    return await takenOf(recording, next, take.attempt, isWhole);
  } catch (error) {
    // Some votes may be taken all the same. None of them was sent.
    await takenOf(recording, next, take.attempt, false)
      .then((taken) => giveBackVotes(recording, listener, taken))
      .catch(() => toGiveBack(next.map((vote) => takenVote(vote, take.attempt))));
    throw error;
  }
}

/** `isWhole`: it is known that all were taken. */
export async function takenOf(
  { votes }: Pick<RecordDeps, 'votes'>,
  found: Vote[],
  attempt: Attempt,
  isWhole: boolean,
): Promise<Taken[]> {
  const [first] = found;
  if (isWhole || !first) return found.map((vote) => takenVote(vote, attempt));
  const own = { 'delivery.state': 'sending', 'delivery.attempts.id': attempt.id } as const;
  const which = { serverId: first.serverId, _id: { $in: found.map(({ _id }) => _id) }, ...own };
  const taken = await votes.find(which, { projection: { _id: 1 } }).toArray();
  const isTaken = new Set(taken.map(({ _id }) => _id.toString()));
  return found.filter(({ _id }) => isTaken.has(_id.toString())).map((vote) => takenVote(vote, attempt));
}

/**
 * Gives back votes that were not sent: they wait as if never taken. If the lease has expired, another worker may have
 * sent later votes: then the attempts are recorded as stopped. One that was recorded as lost is unchanged.
 */
export async function giveBackVotes(
  recording: RecordDeps,
  listener: Pick<ListenerOfTake, 'serverId' | 'lease'>,
  taken: Taken[],
): Promise<void> {
  if (taken.length === 0) return;
  const { votes } = recording;
  const { serverId } = listener;
  // If this is interrupted, no later vote stays taken while an earlier one waits.
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
    return { updateOne: { filter, update: withoutAttempt(id) } };
  });
  const { modifiedCount } = await votes.bulkWrite(updates, { ordered: true, writeConcern: DURABLE });
  if (modifiedCount < taken.length) await recordStopped(recording, serverId, taken);
}

function byQueueOrder(a: Vote, b: Vote): number {
  const [first, second] = [a.delivery.queuedAt ?? a.votedAt, b.delivery.queuedAt ?? b.votedAt];
  return first.getTime() - second.getTime() || a._id.toString().localeCompare(b._id.toString());
}

/** Records `stopped` for attempts without an outcome. */
async function recordStopped(
  recording: RecordDeps,
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
    return [endedAt({ vote, attempt }, stopped, clock.now())];
  });
  await recordOutcomes(recording, ended);
}
