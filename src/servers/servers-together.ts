import type { ObjectId } from 'mongodb';
import { anyOf, findTogether } from '../platform/batching/find-together.ts';
import type { Server } from './server.ts';

/** Servers by their ids, removed ones too; of each what `projection` names. */
export function serversTogether(projection: Record<string, 1>) {
  return findTogether<Server, ObjectId>({
    filter: (ids) => ({ _id: anyOf(ids) }),
    nameOf: (id) => id.toHexString(),
    keyOf: ({ _id }) => _id,
    options: { projection },
  });
}
