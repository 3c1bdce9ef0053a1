import type { Collection, Document, ObjectId } from 'mongodb';
import type { Listener } from '../listeners/listener.ts';
import { isForgotten, type ListenerState, listenerState, STATE_FIELDS } from '../listeners/listener-state.ts';
import { after, type Clock, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import type { Server } from '../servers/server.ts';
import { OPEN_WORK, type Vote } from '../votes/vote.ts';
import { serversWithOpenWork } from './sweep.ts';

/**
 * Counts stop here and then mean “at least this many”. With a million waiting votes, a full count would take seconds,
 * for each process and each scrape of its metrics.
 */
export const COUNTED_AT_MOST = 10_000;

/** Groups of waiting votes by age, the youngest first; a group begins where the one before it ends. */
const AGES = [
  ['under_1m', MINUTE],
  ['1m_to_10m', 10 * MINUTE],
  ['10m_to_1h', HOUR],
  ['1h_to_6h', 6 * HOUR],
  ['6h_to_24h', 24 * HOUR],
  ['over_24h', Number.POSITIVE_INFINITY],
] as const;

type VoteAge = (typeof AGES)[number][0];

/** Votes that are waiting or being sent, and their listeners. Counts of votes are at most `COUNTED_AT_MOST`. */
export type QueueCounts = {
  /**
   * Votes that are waiting or being sent, by the state of their server's listener. If no program fetches a server's
   * votes, its listener counts as unreachable.
   */
  open: Record<ListenerState, number>;
  /** Waiting votes by the state of their server's listener and the time since they were cast. */
  waiting: Record<ListenerState, Record<VoteAge, number>>;
  /** Votes that are due at a reachable listener: with more workers they would be sent sooner. */
  due: { waiting: number; oldestSeconds: number };
  /** The listeners of listed servers. The listener of a removed server stays in the database and is not counted. */
  listeners: Record<ListenerState, number>;
};

type CountDeps = {
  votes: Collection<Vote>;
  listeners: Collection<Listener>;
  servers: Collection<Server>;
  clock: Clock;
};

/**
 * Counts waiting and sending votes, from MongoDB: Redis has one job for each listener, however many votes wait.
 *
 * @param timeoutMs - the longest time that a query runs on mongod
 * @throws the driver's error
 */
export async function countVotes(
  { votes, listeners, servers, clock }: CountDeps,
  timeoutMs: number,
): Promise<QueueCounts> {
  const timeLimit = { maxTimeMS: timeoutMs };
  const now = clock.now();
  const [withOpenWork, removed] = await Promise.all([
    serversWithOpenWork(votes, timeLimit).then(hexOf),
    removedServers(servers, timeLimit).then(hexOf),
  ]);
  const counts: QueueCounts['listeners'] = { active: 0, unverified: 0, unreachable: 0, paused: 0 };
  const waitingAt: Record<ListenerState, ObjectId[]> = {
    active: [],
    unverified: [],
    unreachable: [],
    paused: [],
  };
  /** Servers whose votes a worker sends. Nobody but their game server takes those that are fetched. */
  const sent: ObjectId[] = [];
  const all = listeners.find({}, { projection: { serverId: 1, ...STATE_FIELDS }, ...timeLimit });
  for await (const listener of all) {
    const state = isForgotten(listener, now) ? 'unreachable' : listenerState(listener);
    const serverId = listener.serverId.toHexString();
    if (!removed.has(serverId)) counts[state] += 1;
    if (!withOpenWork.has(serverId)) continue;
    waitingAt[state].push(listener.serverId);
    const isReachable = state === 'active' || state === 'unverified';
    if (isReachable && listener.protocol !== 'fetch') sent.push(listener.serverId);
  }

  const countOpen = (serverIds: ObjectId[]) =>
    votes.countDocuments(
      { serverId: { $in: serverIds }, 'delivery.queuedAt': { $gt: new Date(0) } },
      { hint: OPEN_WORK, limit: COUNTED_AT_MOST, ...timeLimit },
    );
  const openIn = (state: ListenerState) => countOpen(waitingAt[state]);
  const waitingIn = (state: ListenerState) => countByAge(votes, waitingAt[state], now, timeLimit);
  const [open, waiting, due] = await Promise.all([
    ofEachState(openIn),
    ofEachState(waitingIn),
    countDue(votes, sent, now, timeLimit),
  ]);
  return { open, waiting, due, listeners: counts };
}

async function ofEachState<T>(
  count: (state: ListenerState) => Promise<T>,
): Promise<Record<ListenerState, T>> {
  const [active, unverified, unreachable, paused] = await Promise.all([
    count('active'),
    count('unverified'),
    count('unreachable'),
    count('paused'),
  ]);
  return { active, unverified, unreachable, paused };
}

type TimeLimit = { maxTimeMS: number };

const hexOf = (ids: ObjectId[]) => new Set(ids.map((id) => id.toHexString()));

/** The ids of removed servers. The query reads the index of removed servers alone. */
async function removedServers(servers: Collection<Server>, timeLimit: TimeLimit): Promise<ObjectId[]> {
  const removed = servers.find({ removedAt: { $type: 'date' } }, { projection: { _id: 1 }, ...timeLimit });
  return (await removed.toArray()).map(({ _id }) => _id);
}

async function countByAge(
  votes: Collection<Vote>,
  serverIds: ObjectId[],
  now: Date,
  timeLimit: TimeLimit,
): Promise<Record<VoteAge, number>> {
  const counted = AGES.map(async ([age, below], n) => {
    const youngest = n === 0 ? {} : { $lte: after(now, -(AGES[n - 1]?.[1] ?? 0)) };
    const votedAt = Number.isFinite(below) ? { ...youngest, $gt: after(now, -below) } : youngest;
    // There is usually no listener in this state with waiting votes.
    if (serverIds.length === 0) return [age, 0] as const;
    const count = await votes.countDocuments(
      { serverId: { $in: serverIds }, 'delivery.state': 'waiting', votedAt },
      { hint: 'serverId_1_delivery.state_1_votedAt_1', limit: COUNTED_AT_MOST, ...timeLimit },
    );
    return [age, count] as const;
  });
  return Object.fromEntries(await Promise.all(counted)) as Record<VoteAge, number>;
}

async function countDue(
  votes: Collection<Vote>,
  serverIds: ObjectId[],
  now: Date,
  timeLimit: TimeLimit,
): Promise<QueueCounts['due']> {
  const queued = { serverId: { $in: serverIds }, 'delivery.queuedAt': { $gt: new Date(0) } };
  const isDue = { 'delivery.state': 'waiting', 'delivery.nextAt': { $lte: now } };
  const summed = { $group: { _id: null, waiting: { $sum: 1 }, oldest: { $min: '$delivery.nextAt' } } };
  const sum = (stages: Document[]) =>
    votes.aggregate<{ waiting: number; oldest: Date }>(stages, { hint: OPEN_WORK, ...timeLimit }).next();

  const found = await sum([{ $match: { ...queued, ...isDue } }, { $limit: COUNTED_AT_MOST }, summed]);
  if (!found) return { waiting: 0, oldestSeconds: 0 };
  // The counted votes may all be of the first servers. To find the oldest due vote of all, the first vote in each
  // server's queue is read: one index step for each.
  const firstVotes =
    found.waiting < COUNTED_AT_MOST
      ? null
      : await sum([...firstVoteOfEachServer(queued), { $match: isDue }, summed]);
  const oldest = Math.min(found.oldest.getTime(), firstVotes?.oldest.getTime() ?? Number.POSITIVE_INFINITY);
  return { waiting: found.waiting, oldestSeconds: (now.getTime() - oldest) / SECOND };
}

/** The pipeline that finds the first vote in each server's queue: a distinct scan of the index of open work. */
export function firstVoteOfEachServer(queued: Document): Document[] {
  return [
    { $match: queued },
    { $sort: { serverId: 1, 'delivery.queuedAt': 1, _id: 1 } },
    { $group: { _id: '$serverId', delivery: { $first: '$delivery' } } },
  ];
}
