import type { Collection, Document, ObjectId } from 'mongodb';
import type { Listener } from '../listeners/listener.ts';
import { isForgotten, type ListenerState, listenerState, STATE_FIELDS } from '../listeners/listener-state.ts';
import { after, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import type { Server } from '../servers/server.ts';
import { BY_STATE, DUE_VOTES, OPEN_WORK, type Vote } from '../votes/vote.ts';
import type { DeliveryDeps } from './deps.ts';
import { serversWithOpenWork } from './sweep.ts';

/** Counts stop here and then mean “at least this many”: a million votes for each scrape would take seconds. */
export const COUNTED_AT_MOST = 10_000;

export function countWaiting(votes: Collection<Vote>, serverId: ObjectId, atMost?: number): Promise<number> {
  const limit = atMost === undefined ? {} : { limit: atMost };
  return votes.countDocuments({ serverId, 'delivery.state': 'waiting' }, limit);
}

/** When the first of a server's votes that wait or are being sent was queued; null if there is none. */
export async function firstQueuedAt(votes: Collection<Vote>, serverId: ObjectId): Promise<Date | null> {
  const first = await votes.findOne(
    { serverId, 'delivery.queuedAt': { $gt: new Date(0) } },
    { sort: { 'delivery.queuedAt': 1 }, projection: { 'delivery.queuedAt': 1 }, hint: OPEN_WORK },
  );
  return first?.delivery.queuedAt ?? null;
}

/** Groups of waiting votes: their names, and the age at which a group ends. */
const AGES = [
  ['under_1m', MINUTE],
  ['1m_to_10m', 10 * MINUTE],
  ['10m_to_1h', HOUR],
  ['1h_to_6h', 6 * HOUR],
  ['6h_to_24h', 24 * HOUR],
  ['over_24h', Number.POSITIVE_INFINITY],
] as const;

type VoteAge = (typeof AGES)[number][0];
export const VOTE_AGES = AGES.map(([age]) => age);

/** Each count of votes is at most `COUNTED_AT_MOST`. */
export type QueueCounts = {
  /** Votes waiting or being sent. A listener that has fetched nothing for 10 minutes counts as unreachable. */
  open: Record<ListenerState, number>;
  waiting: Record<ListenerState, Record<VoteAge, number>>;
  /** Due votes of reachable listeners that do not fetch. If their number or age grows, more workers help. */
  due: { waiting: number; oldestSeconds: number };
  /** Without the listeners of removed servers. */
  listeners: Record<ListenerState, number>;
};

/** Counts in MongoDB, because Redis has one job for each listener, however many votes wait. */
export async function readQueueCounts(
  { votes, listeners, servers, clock }: DeliveryDeps,
  timeoutMs: number,
): Promise<QueueCounts> {
  const timeLimit = { maxTimeMS: timeoutMs };
  const now = clock.now();
  const [withOpenWork, removed] = await Promise.all([
    serversWithOpenWork(votes, timeLimit).then(hexOf),
    removedServers(servers, timeLimit).then(hexOf),
  ]);
  const counts: QueueCounts['listeners'] = { active: 0, unverified: 0, unreachable: 0, paused: 0 };
  const waitingServers: WaitingServer[] = [];
  const all = listeners.find({}, { projection: { serverId: 1, ...STATE_FIELDS }, ...timeLimit });
  for await (const listener of all) {
    const { serverId } = listener;
    const state = stateAt(listener, now);
    if (!removed.has(serverId.toHexString())) counts[state] += 1;
    if (withOpenWork.has(serverId.toHexString())) waitingServers.push({ ...listener, state });
  }
  const isReached = ({ state, protocol }: WaitingServer) =>
    (state === 'active' || state === 'unverified') && protocol !== 'fetch';
  const waitingIn = (state: ListenerState) => countByAge(votes, idsOf(waitingServers, state), now, timeLimit);
  const [open, waiting, due] = await Promise.all([
    countOpen(votes, waitingServers, timeLimit),
    ofEachState(waitingIn),
    countDue(
      votes,
      waitingServers.filter(isReached).map(({ serverId }) => serverId),
      now,
      timeLimit,
    ),
  ]);
  return { open, waiting, due, listeners: counts };
}

/** `open` of `readQueueCounts` alone. Reads the listeners of servers with open work, and no others. */
export async function countOpenVotes(
  { votes, listeners, clock }: DeliveryDeps,
  timeoutMs: number,
): Promise<QueueCounts['open']> {
  const timeLimit = { maxTimeMS: timeoutMs };
  const now = clock.now();
  const serverId = { $in: await serversWithOpenWork(votes, timeLimit) };
  const found = listeners.find({ serverId }, { projection: { serverId: 1, ...STATE_FIELDS }, ...timeLimit });
  const waiting = await found.map((listener) => ({ ...listener, state: stateAt(listener, now) })).toArray();
  return countOpen(votes, waiting, timeLimit);
}

type WaitingServer = Pick<Listener, 'serverId' | 'protocol'> & { state: ListenerState };

const stateAt = (listener: Listener, now: Date) =>
  isForgotten(listener, now) ? 'unreachable' : listenerState(listener);

function idsOf(servers: WaitingServer[], state: ListenerState): ObjectId[] {
  return servers.filter((one) => one.state === state).map(({ serverId }) => serverId);
}

function countOpen(
  votes: Collection<Vote>,
  servers: WaitingServer[],
  timeLimit: TimeLimit,
): Promise<QueueCounts['open']> {
  return ofEachState((state) =>
    votes.countDocuments(
      { serverId: { $in: idsOf(servers, state) }, 'delivery.queuedAt': { $gt: new Date(0) } },
      { hint: OPEN_WORK, limit: COUNTED_AT_MOST, ...timeLimit },
    ),
  );
}

export const LISTENER_STATES = [
  'active',
  'unverified',
  'unreachable',
  'paused',
] as const satisfies ListenerState[];

async function ofEachState<T>(
  count: (state: ListenerState) => Promise<T>,
): Promise<Record<ListenerState, T>> {
  const counted = LISTENER_STATES.map(async (state) => [state, await count(state)] as const);
  return Object.fromEntries(await Promise.all(counted)) as Record<ListenerState, T>;
}

type TimeLimit = { maxTimeMS: number };

const hexOf = (ids: ObjectId[]) => new Set(ids.map((id) => id.toHexString()));

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
    // In most states, usually no listener has votes to send. Such a state needs no query.
    if (serverIds.length === 0) return [age, 0] as const;
    const count = await votes.countDocuments(
      { serverId: { $in: serverIds }, 'delivery.state': 'waiting', votedAt },
      { hint: BY_STATE, limit: COUNTED_AT_MOST, ...timeLimit },
    );
    return [age, count] as const;
  });
  return Object.fromEntries(await Promise.all(counted)) as Record<VoteAge, number>;
}

async function countDue(votes: Collection<Vote>, serverIds: ObjectId[], now: Date, timeLimit: TimeLimit) {
  if (serverIds.length === 0) return { waiting: 0, oldestSeconds: 0 };
  const due = { serverId: { $in: serverIds }, 'delivery.nextAt': { $gt: new Date(0), $lte: now } };
  const options = { hint: DUE_VOTES, ...timeLimit };
  const [waiting, first] = await Promise.all([
    votes.countDocuments(due, { limit: COUNTED_AT_MOST, ...options }),
    votes.aggregate<{ oldest: Date }>(oldestDueVote(due), options).next(),
  ]);
  return { waiting, oldestSeconds: first ? (now.getTime() - first.oldest.getTime()) / SECOND : 0 };
}

/** Finds since when the oldest of these votes has been due: one seek in `DUE_VOTES` a server. */
export function oldestDueVote(due: Document): Document[] {
  return [
    { $match: due },
    { $sort: { serverId: 1, 'delivery.nextAt': 1, _id: 1 } },
    { $group: { _id: '$serverId', oldest: { $first: '$delivery.nextAt' } } },
    { $group: { _id: null, oldest: { $min: '$oldest' } } },
  ];
}
