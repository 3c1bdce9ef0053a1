import type { Collection } from 'mongodb';
import { MAX_CONCURRENT_ATTEMPTS, maxSendingsOf } from '../../listeners/delivery-limits.ts';
import type { Listener } from '../../listeners/listener.ts';
import { outcome } from '../../listeners/outcomes.ts';
import type { Batcher, BatchLoader } from '../../platform/batching/batcher.ts';
import { anyOf } from '../../platform/batching/find-loader.ts';
import { sendRepeatable, type UpdateStatement } from '../../platform/batching/write-loaders.ts';
import { type Clock, SECOND } from '../../platform/clock.ts';
import { DURABLE } from '../../platform/mongo.ts';
import { type Attempt, OPEN_WORK, type Vote } from '../../votes/vote.ts';
import type { Taken, TakeReason } from './attempt-record.ts';
import {
  attemptUpdate,
  dueVotes,
  newAttempt,
  QUEUE_ORDER,
  type RecordDeps,
  type TakeDeps,
  takenVote,
  withoutAttempt,
} from './attempt-record.ts';
import { isFreshVote } from './backlog-throttle.ts';
import { recordOutcomes } from './record-outcomes.ts';

/**
 * How many votes to take, and how many of them are sent at once. A vote that had an ambiguous outcome, or that may be
 * sent only once, is taken only if it is sent at once. If such a vote waited and the worker died, it could become
 * `unconfirmed` although it was never sent.
 */
type TakeSize = { most: number; atOnce: number };

/** A listener, and the lease of the worker that takes its votes. */
type Leased = TakeDeps & Pick<Listener, 'lease'>;

type DueRequest = {
  listener: Pick<Listener, 'serverId' | 'maxSendings'>;
  test: boolean;
  most: number;
  clock: Clock;
};

/** Finds the next due votes of several listeners, and says as of when they are due. */
const dueVotesLoader: BatchLoader<Collection<Vote>, DueRequest, { found: Vote[]; now: Date }> = {
  most: 100,
  async load(votes, asked) {
    const now = asked[0]?.clock.now() ?? new Date();
    const alike = Map.groupBy(asked, ({ listener, test }) => `${test} ${maxSendingsOf(listener)}`);
    const byServer = new Map<string, Vote[]>();
    const find = async (group: DueRequest[]) => {
      const [first] = group;
      if (!first) return;
      const serverId = anyOf(group.map(({ listener }) => listener.serverId));
      const due = { ...dueVotes(first.listener, now, first), serverId };
      const limit = group.reduce((sum, { most }) => sum + most, 0);
      const options = { sort: { serverId: 1, ...QUEUE_ORDER }, limit, hint: OPEN_WORK } as const;
      const found = await votes.find(due, options).toArray();
      for (const [id, own] of Map.groupBy(found, (vote) => vote.serverId.toHexString()))
        byServer.set(id, own);
      // If the limit was reached, the votes of the servers from the last one on may be missing.
      const last = found.at(-1)?.serverId.toHexString();
      if (found.length < limit || !last || group.length === 1) return;
      await Promise.all(
        group.filter(({ listener }) => listener.serverId.toHexString() >= last).map((one) => find([one])),
      );
    };
    await Promise.all([...alike.values()].map(find));
    return asked.map(({ listener, most }) => {
      const found = byServer.get(listener.serverId.toHexString()) ?? [];
      return { found: found.slice(0, most), now };
    });
  },
};

/** The same for tests and backlogs: other listeners do not wait for these. */
const otherDueVotes: typeof dueVotesLoader = { ...dueVotesLoader };

/** A take of a drain, which may share its statement and its attempt with takes of other listeners. */
type SharedTake = {
  recording: RecordDeps;
  listener: Leased;
  reason: TakeReason;
  now: Date;
  next: Vote[];
  attempt: Attempt;
};

/**
 * Sends takes in one durable command. Returns `true` for each only if all votes of all of them were taken.
 */
async function sendTakes(
  votes: Collection<Vote>,
  takes: UpdateStatement[],
  size: number,
): Promise<(boolean | Error)[]> {
  const { n, errors } = await sendRepeatable(votes, takes, DURABLE);
  return takes.map((_, i) => errors.get(i) ?? n === size);
}

/** Takes votes with one statement for each request. At most four, because a long command would delay inserts of votes. */
export const takesLoader: BatchLoader<
  Collection<Vote>,
  { statement: UpdateStatement; size: number },
  boolean
> = {
  most: 4,
  load(votes, asked) {
    const size = asked.reduce((sum, one) => sum + one.size, 0);
    return sendTakes(
      votes,
      asked.map(({ statement }) => statement),
      size,
    );
  },
};

/** Takes votes of several listeners. Those whose attempts are alike share a statement, and the attempt of the first. */
const sharedTakes: BatchLoader<Collection<Vote>, SharedTake, boolean> = {
  most: 32,
  async load(votes, asked) {
    const seen = new Map<string, number>();
    const alike = Map.groupBy(asked, (take) => {
      const id = take.listener.serverId.toHexString();
      seen.set(id, (seen.get(id) ?? 0) + 1);
      // Two takes of one listener differ in their attempts: each vote goes to one of them.
      return `${seen.get(id)} ${kindOfTake(take)}`;
    });
    const groups = [...alike.values()];
    for (const [first, ...others] of groups) for (const one of others) if (first) one.attempt = first.attempt;
    const statements = groups.map(takeStatement);
    const size = asked.reduce((sum, { next }) => sum + next.length, 0);
    const results = await sendTakes(votes, statements, size);
    return asked.map((one) => results[groups.findIndex((group) => group.includes(one))] ?? false);
  },
};
/** The same for backlogs, whose takes are large: a longer command would delay inserts of votes. */
const sharedLargeTakes: typeof sharedTakes = { ...sharedTakes, most: 4 };

/** How long a lease must still last if its take shares a statement: the statement compares the lease that ends first. */
const LONG_LEASE_MS = 5 * SECOND;

/** A text that is equal for takes that may share a statement. */
function kindOfTake({ listener, reason, now, next, attempt }: SharedTake): string {
  const { released, lease, serverId } = listener;
  const isLong = lease && lease.until.getTime() - now.getTime() > LONG_LEASE_MS;
  // Votes that wait for long would widen the range of the statement, and with it what it reads of other backlogs.
  const isFresh = next.every((vote) => isFreshVote(vote, now));
  if (reason.test || !isLong || !isFresh) return serverId.toHexString();
  const { protocol, revision, answerStep, maxSendings } = attempt;
  const cause = [released?.at.getTime(), released?.by, reason.relayedAt?.getTime()];
  return [protocol, revision, answerStep, maxSendings, ...cause].join(' ');
}

/** The statement that records the attempt of the first take on the votes of all takes of a group. */
function takeStatement(group: SharedTake[]): UpdateStatement {
  const [{ recording, listener, reason, attempt }] = group as [SharedTake];
  const now = new Date(Math.max(...group.map((one) => one.now.getTime())));
  const next = group.flatMap((one) => one.next);
  const queued = next.map(({ delivery, votedAt }) => (delivery.queuedAt ?? votedAt).getTime());
  const range = { $gte: new Date(Math.min(...queued)), $lte: new Date(Math.max(...queued)) };
  const until = Math.min(...group.map((one) => one.listener.lease?.until.getTime() ?? 0));
  return {
    q: {
      ...dueVotes(listener, now, reason),
      serverId: anyOf(group.map((one) => one.listener.serverId)),
      'delivery.queuedAt': { $exists: true, ...range },
      _id: { $in: next.map(({ _id }) => _id) },
      ...hasLease({ until: new Date(until) }),
    },
    u: attemptUpdate(recording.config, attempt, listener, reason),
    multi: true,
    // The index has the votes of each server in queue order. If MongoDB fails half-way, no later vote has an attempt
    // while an earlier one has none.
    hint: OPEN_WORK,
  };
}

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
  const isUsual = !reason.test && most <= MAX_CONCURRENT_ATTEMPTS;
  const { found, now } = await batcher.load(isUsual ? dueVotesLoader : otherDueVotes, votes, asked);
  const isSentOnce = maxSendingsOf(listener) === 1;
  const firstNotDue = found.findIndex(({ delivery }, index) => {
    return index >= atOnce && (isSentOnce || delivery.ambiguousEnds > 0);
  });
  const next = firstNotDue === -1 ? found : found.slice(0, firstNotDue);
  if (next.length === 0) return [];

  const take = {
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

/** Matches only while a lease has not expired by mongod's clock. */
function hasLease(lease: { until: Date } | null | undefined): { $expr: object } {
  return { $expr: { $lt: ['$$NOW', lease?.until ?? new Date(0)] } };
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
