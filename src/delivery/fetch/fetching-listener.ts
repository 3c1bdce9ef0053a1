import type { Collection, ObjectId } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import type { BatchLoader } from '../../platform/batching/batcher.ts';
import { anyOf, findLoader } from '../../platform/batching/find-loader.ts';
import { MINUTE, SECOND } from '../../platform/clock.ts';
import { printable } from '../../platform/printable.ts';
import type { DeliveryDeps } from '../deps.ts';
import type { ListenerOfTake } from '../drain/attempt-record.ts';

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

export async function fetchingListener(
  { listeners, batcher }: DeliveryDeps,
  serverId: ObjectId,
): Promise<FetchingListener | null> {
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
