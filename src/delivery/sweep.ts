import { type Collection, ObjectId } from 'mongodb';
import { wakeListener } from '../listeners/delivery-queues.ts';
import type { Listener } from '../listeners/listener.ts';
import type { Batcher } from '../platform/batching/batcher.ts';
import type { Logger } from '../platform/log.ts';
import type { Server } from '../servers/server.ts';
import { OPEN_WORK, type Vote } from '../votes/vote.ts';
import type { RecordDeps } from './drain/attempt-record.ts';
import { endLostAttempts, serversWith } from './drain/lost-attempts.ts';
import { expireVotes, overdueVotes, removeVotesWithoutListener, removeWaitingVotes } from './leave-queue.ts';
import type { ResendDeps } from './resend-vote.ts';
import { finishOwedResends, giveUpSentVotes } from './unconfirmed-votes.ts';

/** The dependencies of the sweep. */
type SweepDeps = RecordDeps & ResendDeps & { servers: Collection<Server>; batcher: Batcher; log: Logger };

/**
 * The result of one round: how many listeners were woken, votes were given up because they expired, and votes were
 * taken out of the queue because their listener is removed.
 */
type SweepRound = { woken: number; expired: number; removed: number };

const SERVERS_A_STEP = 512;
/** How many servers are checked concurrently. Most of a round is waiting for MongoDB. */
const SERVERS_AT_ONCE = 8;

/**
 * Finds due work in MongoDB and wakes its listeners (design rule 2). If Redis lost a job, a job was not added, or a
 * retry has become due, the vote waits at most one round longer. Runs in every worker; two concurrent rounds are safe.
 * An error for one server does not delay the others.
 *
 * A round costs a few indexed reads for each server with open work, however many votes are waiting.
 */
export async function sweepDueWork(deps: SweepDeps): Promise<SweepRound> {
  const round: SweepRound = { woken: 0, expired: 0, removed: 0 };
  const serverIds = await serversWithOpenWork(deps.votes);
  for (let start = 0; start < serverIds.length; start += SERVERS_A_STEP) {
    const step = serverIds.slice(start, start + SERVERS_A_STEP);
    const asOf = deps.clock.now();
    const [listeners, overdue, lost] = await Promise.all([
      listenersOf(deps.listeners, step),
      serversWith(deps.votes, step, overdueVotes(asOf)),
      serversWith(deps.votes, step),
    ]);
    const byServer = new Map(listeners.map((listener) => [listener.serverId.toHexString(), listener]));
    for (let first = 0; first < step.length; first += SERVERS_AT_ONCE) {
      const turns = step.slice(first, first + SERVERS_AT_ONCE).map(async (serverId) => {
        const listener = byServer.get(serverId.toHexString());
        const id = serverId.toHexString();
        const seen = { listener, asOf, overdue: overdue.has(id), lost: lost.has(id) };
        await sweepServer(deps, serverId, seen, round);
      });
      for (const turn of await Promise.allSettled(turns)) {
        if (turn.status === 'rejected') {
          deps.log.warn({ event: 'relay.server_failed', reason: String(turn.reason) });
        }
      }
    }
  }
  // Owed resends come last: after an outage they may take long, and lost work must not wait for them.
  await finishOwedResends(deps);
  return round;
}

/**
 * What a round has read about a server. `overdue`: it has expired votes; `lost`: it has attempts whose lease has
 * expired.
 */
type Seen = { listener: WithLease | undefined; asOf: Date; overdue: boolean; lost: boolean };

/** Handles one server in a run. */
async function sweepServer(
  deps: SweepDeps,
  serverId: ObjectId,
  { listener, asOf, overdue, lost }: Seen,
  round: SweepRound,
): Promise<void> {
  // Before the reads: if a vote becomes due after this moment, a job is added for it, so the sweep does not count it as
  // lost.
  const relayedAt = deps.clock.now();
  const expired = overdue ? await expireVotes(deps, serverId) : 0;
  round.expired += expired;
  if (expired > 0) {
    const listenerId = listener?._id.toHexString();
    deps.log.warn({ event: 'votes.expired', serverId: serverId.toHexString(), listenerId, votes: expired });
  }
  if (listener?.protocol === 'fetch') {
    await sweepFetching(deps, serverId, listener, lost);
  } else if (!listener) {
    const removed = await removeVotesWithoutListener(deps, serverId, asOf);
    round.removed += removed;
  } else if (await isDue(deps, listener, lost)) {
    if (await wakeListener(deps.producer, listener, { hasten: true, relayedAt })) round.woken += 1;
  }
}

/** Ends what takers left unsettled: no drain does it. What this makes due is found by those who wait for votes. */
async function sweepFetching(
  deps: SweepDeps,
  serverId: ObjectId,
  listener: Listener,
  lost: boolean,
): Promise<void> {
  for (const { taken } of lost ? await endLostAttempts(deps, serverId) : []) {
    deps.log.warn({ event: 'delivery.lost', voteId: taken.vote._id.toString() });
  }
  // If the owner lowered the number of sendings while a vote was leased: the vote waits now, and no take would get it.
  await giveUpSentVotes(deps, listener);
  const server = await deps.servers.findOne({ _id: serverId }, { projection: { removedAt: 1 } });
  if (!server || server.removedAt) await removeWaitingVotes(deps, serverId, 'server-removed');
  else if (lost) await wakeListener(deps.producer, listener);
}

const LOWEST_ID = new ObjectId('0'.repeat(24));

/** The servers that have votes waiting or being sent. Costs one step of the index for each server (a distinct scan). */
export async function serversWithOpenWork(
  votes: Collection<Vote>,
  options: { maxTimeMS?: number } = {},
): Promise<ObjectId[]> {
  const openWork = { serverId: { $gt: LOWEST_ID }, 'delivery.queuedAt': { $gt: new Date(0) } };
  const groups = await votes
    .aggregate<{ _id: ObjectId }>([{ $match: openWork }, { $group: { _id: '$serverId' } }], {
      hint: OPEN_WORK,
      ...options,
    })
    .toArray();
  return groups.map((group) => group._id);
}

/** A listener, and whether a worker drains it now. */
type WithLease = Listener & { leased: boolean };

/** The listeners of these servers. mongod's clock decides whether a lease is valid. */
function listenersOf(listeners: Collection<Listener>, serverIds: ObjectId[]): Promise<WithLease[]> {
  return listeners
    .aggregate<WithLease>([
      { $match: { serverId: { $in: serverIds } } },
      { $set: { leased: { $gt: [{ $ifNull: ['$lease.until', new Date(0)] }, '$$NOW'] } } },
    ])
    .toArray();
}

/** Whether a drain would find work now; `lost`: the server has attempts whose lease has expired. */
async function isDue({ votes, clock }: SweepDeps, listener: WithLease, lost: boolean): Promise<boolean> {
  if (listener.leased) return false;
  const now = clock.now();
  const { serverId, pause, breaker, limited } = listener;
  const open = { serverId, 'delivery.queuedAt': { $exists: true } };
  if (lost) return true;
  const waiting = breaker.openSince
    ? { ...open, 'delivery.state': 'waiting' as const }
    : { ...open, 'delivery.state': 'waiting' as const, 'delivery.nextAt': { $lte: now } };
  const isBlocked =
    pause || (breaker.nextTestAt && now < breaker.nextTestAt) || (limited && now < limited.until);
  return !isBlocked && (await votes.findOne(waiting, { projection: { _id: 1 } })) !== null;
}
