import type { Collection, ObjectId, WithId } from 'mongodb';
import type { Progress } from '../platform/progress.ts';
import { PAUSE_FIELDS } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';

/** Limits the time and memory of each operation. */
const SLICE = 250;

export type SliceOptions = {
  /** By default all listed ones. */
  serverIds?: ObjectId[] | undefined;
  progress?: Progress | undefined;
  /** Stops the work between two slices, and its reason is thrown. */
  signal?: AbortSignal | undefined;
};

export type SlicedServer = WithId<
  Pick<Server, 'probe' | 'lastReport' | 'firstReportAt' | 'listingPause' | 'earlierPauses'>
>;

/**
 * Ordered by id. Returns the number of servers.
 *
 * @throws the signal's reason when it is aborted
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
        // Without `last` and `serverIds` there is no filter by id: an empty `_id` filter would match no server.
        ...(last || serverIds ? { _id: range } : {}),
      })
      .project<SlicedServer>({ probe: 1, lastReport: 1, firstReportAt: 1, ...PAUSE_FIELDS })
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
