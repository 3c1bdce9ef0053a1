import type { Collection, ObjectId } from 'mongodb';
import type { Server } from '../servers/server.ts';

/** One query counts the votes of so many servers: this limits its time and memory. */
const SLICE = 500;

/** The ids of all servers that were ever listed. */
export async function* serverIdSlices(servers: Collection<Server>): AsyncGenerator<ObjectId[]> {
  let last: ObjectId | undefined;
  for (;;) {
    const ids: ObjectId[] = await servers
      .find(last ? { _id: { $gt: last } } : {}, { sort: { _id: 1 }, limit: SLICE, projection: { _id: 1 } })
      .map(({ _id }) => _id)
      .toArray();
    last = ids.at(-1);
    if (!last) return;
    yield ids;
  }
}
