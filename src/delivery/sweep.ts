import { type Collection, ObjectId } from 'mongodb';
import PQueue from 'p-queue';
import { wakeListener } from '../listeners/delivery-queues.ts';
import type { Listener } from '../listeners/listener.ts';
import { DUE_VOTES, OPEN_WORK, type Vote } from '../votes/vote.ts';
import type { DeliveryDeps } from './deps.ts';
import { dueVotes } from './drain/attempt-record.ts';
import { endLostAttempts, serversWith, serversWithLost } from './drain/lost-attempts.ts';
import { expireVotes, queuedLongAgo, removeVotesWithoutListener, removeWaitingVotes } from './leave-queue.ts';
import { finishOwedResends } from './unconfirmed-votes.ts';

type SweepRound = { woken: number; expired: number; removed: number };

const SERVERS_A_STEP = 512;
/** A sweep mostly waits for MongoDB. */
const SERVERS_AT_ONCE = 8;

/**
 * Finds due work in MongoDB and wakes the listeners (design rule 2): retries that have become due, and votes whose job
 * was lost or never added. Several workers may sweep at the same time. It costs a few indexed reads for each server
 * with open work, however many votes wait.
 */
export async function sweepDueWork(deps: DeliveryDeps): Promise<SweepRound> {
  const round: SweepRound = { woken: 0, expired: 0, removed: 0 };
  const serverIds = await serversWithOpenWork(deps.votes);
  for (let start = 0; start < serverIds.length; start += SERVERS_A_STEP) {
    const step = serverIds.slice(start, start + SERVERS_A_STEP);
    const asOf = deps.clock.now();
    const [listeners, overdue, lost] = await Promise.all([
      listenersOf(deps.listeners, step),
      serversWith(deps.votes, step, queuedLongAgo(asOf), OPEN_WORK),
      serversWithLost(deps.votes, step),
    ]);
    const byServer = new Map(listeners.map((listener) => [listener.serverId.toHexString(), listener]));
    const sweepOne = async (serverId: ObjectId) => {
      const id = serverId.toHexString();
      const seen = { listener: byServer.get(id), asOf, overdue: overdue.has(id), lost: lost.has(id) };
      await sweepServer(deps, serverId, seen, round).catch((error: unknown) =>
        deps.log.warn({ event: 'relay.server_failed', reason: String(error) }),
      );
    };
    const queue = new PQueue({ concurrency: SERVERS_AT_ONCE });
    await queue.addAll(step.map((serverId) => () => sweepOne(serverId)));
  }
  // Last: after an outage resends may take long, and lost work must not wait for them.
  await finishOwedResends(deps);
  return round;
}

/** What the sweep read about a server at `asOf`. */
type Seen = { listener: WithLease | undefined; asOf: Date; overdue: boolean; lost: boolean };

async function sweepServer(
  deps: DeliveryDeps,
  serverId: ObjectId,
  { listener, asOf, overdue, lost }: Seen,
  round: SweepRound,
): Promise<void> {
  // Before due votes are read: a vote that is cast later has a job, and its attempt was not found by the sweep.
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
    // Not `round.removed += await …`: it would read the sum first and lose what other servers add during the wait.
    const removed = await removeVotesWithoutListener(deps, serverId, asOf);
    round.removed += removed;
  } else if (await isDue(deps, listener, lost)) {
    if (await wakeListener(deps.producer, listener, { hasten: true, relayedAt })) round.woken += 1;
  }
}

/** What a drain does for others, except sending: the waiting takes find due votes. */
async function sweepFetching(deps: DeliveryDeps, serverId: ObjectId, listener: Listener, lost: boolean) {
  for (const { taken } of lost ? await endLostAttempts(deps, serverId, listener) : []) {
    deps.log.warn({ event: 'delivery.lost', voteId: taken.vote._id.toString() });
  }
  const server = await deps.servers.findOne({ _id: serverId }, { projection: { removedAt: 1 } });
  if (!server || server.removedAt) await removeWaitingVotes(deps, serverId, 'server-removed');
  else if (lost) await wakeListener(deps.producer, listener);
}

const LOWEST_ID = new ObjectId('0'.repeat(24));

/** The servers with votes waiting or being sent, by one step of the index each (a distinct scan). */
export async function serversWithOpenWork(
  votes: Collection<Vote>,
  { queuedBy, most, ...options }: { queuedBy?: Date; most?: number; maxTimeMS?: number } = {},
): Promise<ObjectId[]> {
  const queuedAt = { $gt: new Date(0), ...(queuedBy ? { $lte: queuedBy } : {}) };
  const openWork = { serverId: { $gt: LOWEST_ID }, 'delivery.queuedAt': queuedAt };
  const groups = await votes
    .aggregate<{ _id: ObjectId }>(
      [{ $match: openWork }, { $group: { _id: '$serverId' } }, ...(most ? [{ $limit: most }] : [])],
      { hint: OPEN_WORK, ...options },
    )
    .toArray();
  return groups.map((group) => group._id);
}

type WithLease = Listener & { leased: boolean };

/** mongod's clock decides whether a lease is valid. */
function listenersOf(listeners: Collection<Listener>, serverIds: ObjectId[]): Promise<WithLease[]> {
  return listeners
    .aggregate<WithLease>([
      { $match: { serverId: { $in: serverIds } } },
      { $set: { leased: { $gt: [{ $ifNull: ['$lease.until', new Date(0)] }, '$$NOW'] } } },
    ])
    .toArray();
}

/** No worker has the listener's lease, and a drain would find work. `lost`: attempts whose lease has expired. */
async function isDue({ votes, clock }: DeliveryDeps, listener: WithLease, lost: boolean): Promise<boolean> {
  if (listener.leased) return false;
  if (lost) return true;
  const now = clock.now();
  const { serverId, pause, breaker, limited } = listener;
  if (pause || (breaker.nextTestAt && now < breaker.nextTestAt) || (limited && now < limited.until))
    return false;
  // A test of an unreachable listener does not wait for the vote's own next time.
  const due = dueVotes(serverId, now, { test: Boolean(breaker.openSince) });
  return (await votes.findOne(due, { projection: { _id: 1 }, hint: DUE_VOTES })) !== null;
}
