import { setTimeout as pause } from 'node:timers/promises';
import type { Collection, ObjectId } from 'mongodb';
import type { Listener, ListenerFetch } from '../../listeners/listener.ts';
import { FORGOTTEN_AFTER_MS, isForgotten } from '../../listeners/listener-state.ts';
import type { BatchLoader } from '../../platform/batching/batcher.ts';
import { anyOf, findLoader } from '../../platform/batching/find-loader.ts';
import { after, MINUTE, SECOND } from '../../platform/clock.ts';
import { printable } from '../../platform/printable.ts';
import type { DeliveryDeps } from '../deps.ts';
import type { ListenerOfTake } from '../drain/attempt-record.ts';
import { serversWithOpenWork } from '../sweep.ts';

export type FetchingListener = ListenerOfTake &
  Pick<Listener, 'protocol' | 'pause' | 'serviceName' | 'fetched' | 'fetchAwaitedAt'>;

const fetchingLoader = findLoader<Listener, ObjectId>({
  filter: (serverIds) => ({ serverId: anyOf(serverIds) }),
  nameOf: (serverId) => serverId.toHexString(),
  keyOf: ({ serverId }) => serverId,
  options: {
    projection: {
      serverId: 1,
      protocol: 1,
      revision: 1,
      breaker: 1,
      released: 1,
      answerStep: 1,
      maxSendings: 1,
      pause: 1,
      serviceName: 1,
      fetched: 1,
      fetchAwaitedAt: 1,
    },
  },
});

export async function fetchingListener({ listeners, batcher }: DeliveryDeps, serverId: ObjectId) {
  const listener = await batcher.load(fetchingLoader, listeners, serverId);
  return listener?.protocol === 'fetch' ? listener : null;
}

/** A new take of the program (`User-Agent`) whose take is stored, or of another one, is stored after these times. */
const NOTED_EVERY_MS = MINUTE;
const OTHER_NOTED_EVERY_MS = 5 * SECOND;

type Note = { serverId: ObjectId; at: Date; agent: string };

/** Stores when votes were taken. It may collect writes for 250 ms, because no request waits for them. */
const notesLoader: BatchLoader<Collection<Listener>, Note, true> = {
  most: 500,
  collectMs: 250,
  async load(listeners, notes) {
    // If many programs use a server's token, only the newest of their takes is stored.
    const newest = new Map(notes.map((note) => [note.serverId.toHexString(), note]));
    for (const [agent, group] of Map.groupBy(newest.values(), (note) => note.agent)) {
      const at = new Date(Math.max(...group.map((note) => note.at.getTime())));
      const serverId = anyOf(group.map((note) => note.serverId));
      await listeners.updateMany({ serverId, protocol: 'fetch' }, { $set: { fetched: { at, agent } } });
    }
    return notes.map(() => true);
  },
};

/** Stores for the owner when votes were last taken, and by which program; undefined if that is known already. */
export function noteTake(
  { listeners, batcher, clock }: DeliveryDeps,
  { serverId, fetched, fetchAwaitedAt }: FetchingListener,
  userAgent: string,
): Promise<true> | undefined {
  const at = clock.now();
  const agent = printable(userAgent);
  const everyMs = fetched?.agent === agent ? NOTED_EVERY_MS : OTHER_NOTED_EVERY_MS;
  const isKnown =
    fetched &&
    at.getTime() - fetched.at.getTime() < everyMs &&
    !(fetchAwaitedAt && fetched.at < fetchAwaitedAt);
  return isKnown ? undefined : batcher.load(notesLoader, listeners, { serverId, at, agent });
}

/** Longer than a take may wait: a program that takes votes all the time begins its next one within this time. */
const AWAITED_MS = 40 * SECOND;
const LOOK_EVERY_MS = SECOND / 4;

/**
 * Waits for the next take of a listener's votes; null when none comes. A take that already waits counts too: it is
 * woken, reads the listener again, and its time is stored again (`noteTake`).
 */
export async function awaitTake(
  { listeners, producer, clock }: DeliveryDeps,
  { _id, serverId, fetched }: Pick<Listener, '_id' | 'serverId' | 'fetched'>,
  waitMs = AWAITED_MS,
): Promise<ListenerFetch | null> {
  const before = fetched?.at.getTime() ?? 0;
  // Later than the last stored take: otherwise `noteTake` would not store the next one at once. The clock of the
  // process that stored the last one may be ahead.
  const fetchAwaitedAt = new Date(Math.max(clock.now().getTime(), after(new Date(before), 1).getTime()));
  await listeners.updateOne({ serverId, _id }, { $set: { fetchAwaitedAt } });
  const until = performance.now() + waitMs;
  try {
    await producer.announceDueVotes(serverId.toHexString());
    for (;;) {
      const now = await listeners.findOne({ serverId, _id }, { projection: { fetched: 1 } });
      if (now?.fetched && now.fetched.at.getTime() > before) return now.fetched;
      if (performance.now() > until) return null;
      await pause(LOOK_EVERY_MS);
    }
  } finally {
    await listeners.updateOne({ serverId, _id, fetchAwaitedAt }, { $unset: { fetchAwaitedAt: '' } });
  }
}

const SERVERS_A_STEP = 512;

/** In steps of 512. The cost grows with the servers that have votes open for 10 minutes, not with the listeners. */
export async function* fetchingWithOpenVotes({
  listeners,
  votes,
  clock,
}: DeliveryDeps): AsyncGenerator<Listener[]> {
  const queuedBy = after(clock.now(), -FORGOTTEN_AFTER_MS);
  const serverIds = await serversWithOpenWork(votes, { queuedBy });
  for (let start = 0; start < serverIds.length; start += SERVERS_A_STEP) {
    const serverId = anyOf(serverIds.slice(start, start + SERVERS_A_STEP));
    yield await listeners.find({ serverId, protocol: 'fetch' }).toArray();
  }
}

/** So many servers with votes open for 10 minutes are looked at for a page. */
const MOST_LOOKED_AT = 1_000;

/**
 * The listeners that have not fetched (`isForgotten`) while votes have been open for as long. `more`: not all servers
 * were looked at. Most of these listeners do not fetch, and no index finds the others: all are read.
 */
export async function neglectedListeners({ listeners, votes, clock }: DeliveryDeps) {
  const now = clock.now();
  const queuedBy = after(now, -FORGOTTEN_AFTER_MS);
  const serverIds = await serversWithOpenWork(votes, { queuedBy, most: MOST_LOOKED_AT + 1 });
  const serverId = anyOf(serverIds.slice(0, MOST_LOOKED_AT));
  const found = await listeners
    .find({ serverId })
    .project<NeglectedListener>({ serverId: 1, protocol: 1, pause: 1, fetched: 1, updatedAt: 1 })
    .toArray();
  const neglected = found.filter((listener) => isForgotten(listener, now));
  return { listeners: neglected, more: serverIds.length > MOST_LOOKED_AT };
}

type NeglectedListener = Pick<Listener, 'serverId' | 'protocol' | 'pause' | 'fetched' | 'updatedAt'>;
