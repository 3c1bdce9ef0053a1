import type { ObjectId } from 'mongodb';
import { anyOf, findLoader } from '../platform/batching/find-loader.ts';
import type { Server } from './server.ts';

/** Loads by id, and finds removed servers too. */
export function serverLoader(projection: Record<string, 1>) {
  return findLoader<Server, ObjectId>({
    filter: (ids) => ({ _id: anyOf(ids) }),
    nameOf: (id) => id.toHexString(),
    keyOf: ({ _id }) => _id,
    options: { projection },
  });
}
