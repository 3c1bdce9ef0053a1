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

/** How many votes to take, and how many of them are sent at once. */
type TakeSize = { most: number; atOnce: number };

/**
 * Those of the next due votes that may be taken together if `atOnce` of them are sent at once. If the worker, or the
 * program that fetches, dies while a taken vote waits for its turn, its attempt counts as ambiguous although nothing was
 * sent. So a vote with more ambiguous outcomes than `mostEnds` is taken only if it is sent at once.
 */
export function takenTogether(found: Vote[], atOnce: number, mostEnds: number): Vote[] {
  const firstNotTaken = found.findIndex(({ delivery }, index) => {
    return index >= atOnce && delivery.ambiguousEnds > mostEnds;
  });
  return firstNotTaken === -1 ? found : found.slice(0, firstNotTaken);
}

/**
 * Takes the next votes of a listener in queue order: one durable write records an attempt on each before anything is
 * sent (design rule 4). The write compares the listener's lease with mongod's clock: if a worker was suspended for
 * longer than its lease, it takes no vote.
 *
 * @param toGiveBack - called before this throws, with votes that may have been taken and could not be given back
 * @returns the votes in queue order; empty when no vote is due or may be taken
 * @throws the driver's error when MongoDB fails; votes that may have been taken are given back if possible
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
  // At most one attempt of a vote is wasted so, and none of a vote that may be sent only once.
  const next = takenTogether(due, atOnce, maxSendingsOf(listener) === 1 ? -1 : 0);
  if (next.length === 0) return [];

  const attempt = newAttempt(processId, listener, reason, now);
  const take: SharedTake = { recording, listener, reason, now, next, attempt };
  try {
    const loader = next.length > MAX_CONCURRENT_ATTEMPTS ? sharedLargeTakes : sharedTakes;
    const isWhole = await batcher.load(loader, votes, take);
    // The write may put the attempt of another take into `take.attempt`, so `take.attempt` is read after the write.
    return await takenOf(recording, next, take.attempt, isWhole);
  } catch (error) {
    // Some votes may be taken although the write reported an error. None of them was sent.
    await takenOf(recording, next, take.attempt, false)
      .then((taken) => giveBackVotes(recording, listener, taken))
      .catch(() => toGiveBack(next.map((vote) => takenVote(vote, take.attempt))));
    throw error;
  }
}

/** Those votes of `found` on which `attempt` was recorded. `isWhole`: it is known that all were taken. */
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
 * Gives back taken votes that were not sent. If the listener's lease has not expired, the votes wait as if they had
 * never been taken. If it has expired, another worker may have sent later votes: the attempts are recorded as stopped
 * before anything was sent. An attempt that was recorded as lost is unchanged.
 */
export async function giveBackVotes(
  recording: RecordDeps,
  listener: Pick<ListenerOfTake, 'serverId' | 'lease'>,
  taken: Taken[],
): Promise<void> {
  if (taken.length === 0) return;
  const { votes } = recording;
  const { serverId } = listener;
  // The last vote in the queue first: if this is interrupted, no later vote stays taken while an earlier one waits.
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

/** For each of these attempts that has no outcome yet, records the outcome “stopped before anything was sent”. */
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
