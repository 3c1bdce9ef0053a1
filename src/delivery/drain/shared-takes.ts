import type { Collection } from 'mongodb';
import { maxSendingsOf } from '../../listeners/delivery-limits.ts';
import type { Listener } from '../../listeners/listener.ts';
import type { BatchLoader } from '../../platform/batching/batcher.ts';
import { anyOf } from '../../platform/batching/find-loader.ts';
import { sendRepeatable, type UpdateStatement } from '../../platform/batching/write-loaders.ts';
import { type Clock, SECOND } from '../../platform/clock.ts';
import { DURABLE } from '../../platform/mongo.ts';
import { type Attempt, DUE_VOTES, type Vote } from '../../votes/vote.ts';
import {
  attemptUpdate,
  dueVotes,
  type ListenerOfTake,
  QUEUE_ORDER,
  type RecordDeps,
  type TakeReason,
} from './attempt-record.ts';
import { isFreshVote } from './backlog-throttle.ts';
import { sentLessOftenThan } from './sent-votes.ts';

type DueRequest = {
  listener: Pick<Listener, 'serverId'>;
  test: boolean;
  most: number;
  clock: Clock;
};

/** `now`: when the votes were due. */
export const dueVotesLoader: BatchLoader<Collection<Vote>, DueRequest, { found: Vote[]; now: Date }> = {
  most: 100,
  async load(votes, asked) {
    const now = asked[0]?.clock.now() ?? new Date();
    const alike = Map.groupBy(asked, ({ test }) => test);
    const byServer = new Map<string, Vote[]>();
    const find = async (group: DueRequest[]) => {
      const [first] = group;
      if (!first) return;
      const serverId = anyOf(group.map(({ listener }) => listener.serverId));
      const due = dueVotes(serverId, now, first);
      const limit = group.reduce((sum, { most }) => sum + most, 0);
      const options = { sort: { serverId: 1, ...QUEUE_ORDER }, limit, hint: DUE_VOTES } as const;
      const found = await votes.find(due, options).toArray();
      for (const [id, own] of Map.groupBy(found, (vote) => vote.serverId.toHexString()))
        byServer.set(id, own);
      // At the limit, votes of the last server and of those after it may be missing: each is read alone.
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

/** It may share its statement and its attempt with takes of other listeners. */
export type SharedTake = {
  recording: RecordDeps;
  listener: ListenerOfTake;
  reason: TakeReason;
  now: Date;
  next: Vote[];
  attempt: Attempt;
};

/** `size`: votes, unless another worker or taker has some of them. */
type Take = { statement: UpdateStatement; size: number };

/** One durable command. If any vote was not taken, the answer to each take is `false` or its error. */
async function sendTakes(votes: Collection<Vote>, takes: Take[]): Promise<(boolean | Error)[]> {
  const statements = takes.map(({ statement }) => statement);
  const { n, errors } = await sendRepeatable(votes, statements, DURABLE);
  const size = takes.reduce((sum, one) => sum + one.size, 0);
  return takes.map((_, i) => errors.get(i) ?? n === size);
}

/** At most four statements, because a long command delays inserts of votes. */
export const takesLoader: BatchLoader<Collection<Vote>, Take, boolean> = { most: 4, load: sendTakes };

/** Takes that differ only in listener and votes share the attempt of the first one (docs/adr/0132-shared-drains.md). */
export const sharedTakes: BatchLoader<Collection<Vote>, SharedTake, boolean> = {
  most: 32,
  async load(votes, asked) {
    const seen = new Map<string, number>();
    const alike = Map.groupBy(asked, (take) => {
      const id = take.listener.serverId.toHexString();
      seen.set(id, (seen.get(id) ?? 0) + 1);
      // Of two takes of one listener, each has an attempt of its own, and each vote goes to one of them.
      return `${seen.get(id)} ${kindOfTake(take)}`;
    });
    const groups = [...alike.values()];
    for (const [first, ...others] of groups) for (const one of others) if (first) one.attempt = first.attempt;
    const results = await sendTakes(votes, groups.map(takeOf));
    const resultOf = new Map(groups.flatMap((group, i) => group.map((take) => [take, results[i]] as const)));
    return asked.map((take) => resultOf.get(take) ?? false);
  },
};

/** Fewer large takes in one command: a longer one would delay inserts of votes. */
export const sharedLargeTakes: typeof sharedTakes = { ...sharedTakes, most: 4 };

/** A shared statement takes nothing once the first of its leases has expired, so a take needs a longer one. */
const LONG_LEASE_MS = 5 * SECOND;

/** Equal for takes that may share a statement. */
function kindOfTake({ listener, reason, now, next, attempt }: SharedTake): string {
  const { released, lease, serverId } = listener;
  const isLong = lease && lease.until.getTime() - now.getTime() > LONG_LEASE_MS;
  // The statement covers a range of `nextAt`: with an old vote it would read the backlogs of other listeners.
  const isFresh = next.every((vote) => isFreshVote(vote, now));
  if (reason.test || !isLong || !isFresh) return serverId.toHexString();
  const { protocol, revision, answerStep, maxSendings } = attempt;
  const cause = [released?.at.getTime(), released?.by, reason.relayedAt?.getTime()];
  return [protocol, revision, answerStep, maxSendings, ...cause].join(' ');
}

/** Records the attempt of the first take on the votes of all. */
function takeOf(group: SharedTake[]): Take {
  const [{ recording, listener, reason, attempt }] = group as [SharedTake];
  const now = new Date(Math.max(...group.map((one) => one.now.getTime())));
  const next = group.flatMap((one) => one.next);
  const due = next.map(({ delivery, votedAt }) => (delivery.nextAt ?? votedAt).getTime());
  const range = { $gte: new Date(Math.min(...due)), $lte: new Date(Math.max(...due)) };
  const until = Math.min(...group.map((one) => one.listener.lease?.until.getTime() ?? 0));
  const statement = {
    q: {
      ...dueVotes(anyOf(group.map((one) => one.listener.serverId)), now, reason),
      ...sentLessOftenThan(maxSendingsOf(listener)),
      'delivery.nextAt': range,
      _id: { $in: next.map(({ _id }) => _id) },
      ...hasLease({ until: new Date(until) }),
    },
    u: attemptUpdate(recording.config, attempt, listener, reason),
    multi: true,
    // In queue order: if MongoDB fails half-way, no later vote has an attempt while an earlier one has none.
    hint: DUE_VOTES,
  };
  return { statement, size: next.length };
}

/** Whether the lease runs by mongod's clock. */
export function hasLease(lease: { until: Date } | null | undefined): { $expr: object } {
  return { $expr: { $lt: ['$$NOW', lease?.until ?? new Date(0)] } };
}
