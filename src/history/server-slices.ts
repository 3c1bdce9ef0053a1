import type { Collection, ObjectId, WithId } from 'mongodb';
import type { Progress } from '../platform/progress.ts';
import type { Server } from '../servers/server.ts';

/** Work on all servers is done on so many at a time: each operation's time and memory is bounded by it. */
const SLICE = 250;

/** What can be said about work on many servers. */
export type SliceOptions = {
  /** By default all listed servers. */
  serverIds?: ObjectId[] | undefined;
  /** Hears how many of the servers are done. */
  progress?: Progress | undefined;
  /** Stops the work between two slices: `work` throws its reason. */
  signal?: AbortSignal | undefined;
};

/** What of a server is read: who is believed about it, and since when it reports. */
type SlicedServer = WithId<Pick<Server, 'probe' | 'lastReport' | 'firstReportAt'>>;

/**
 * Hands servers to `work`, slice by slice in the order of their ids.
 *
 * @returns how many there were
 * @throws the signal's reason
 */
export async function inSlices(
  { servers }: { servers: Collection<Server> },
  { serverIds, progress, signal }: SliceOptions,
  work: (slice: SlicedServer[]) => Promise<void>,
): Promise<{ servers: number }> {
  const total = serverIds ? serverIds.length : await servers.countDocuments({ removedAt: null });
  let done = 0;
  let last: ObjectId | undefined;
  progress?.(0, total);
  for (;;) {
    signal?.throwIfAborted();
    const range = { ...(last && { $gt: last }), ...(serverIds && { $in: serverIds }) };
    const slice: SlicedServer[] = await servers
      .find({
        ...(serverIds ? {} : { removedAt: null }),
        // An empty range would ask for an empty id.
        ...(last || serverIds ? { _id: range } : {}),
      })
      .project<SlicedServer>({ probe: 1, lastReport: 1, firstReportAt: 1 })
      .sort({ _id: 1 })
      .limit(SLICE)
      .toArray();
    last = slice.at(-1)?._id;
    if (!last) return { servers: done };
    await work(slice);
    done += slice.length;
    progress?.(done, Math.max(done, total));
  }
}
