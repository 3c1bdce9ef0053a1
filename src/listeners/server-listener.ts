import type { ObjectId } from 'mongodb';
import { anyOf, findLoader } from '../platform/batching/find-loader.ts';
import { QUEUE_FIELDS } from './delivery-queues.ts';
import type { Listener } from './listener.ts';

/** The listener of a server, with the fields that casting and claiming a vote need. */
export const listenersLoader = findLoader<Listener, ObjectId>({
  filter: (serverIds) => ({ serverId: anyOf(serverIds) }),
  nameOf: (serverId) => serverId.toHexString(),
  keyOf: ({ serverId }) => serverId,
  options: { projection: { serverId: 1, rewards: 1, ...QUEUE_FIELDS } },
});
