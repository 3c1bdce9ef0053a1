import type { ObjectId } from 'mongodb';
import { type ListenerView, showListener } from '../../delivery/change-listener.ts';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { cachedFor } from '../../platform/batching/cached-for.ts';
import { SECOND } from '../../platform/clock.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { readQueuePaused } from '../../process/redis-queues.ts';

/** How long a process caches whether the queue is paused. Pages that refresh themselves read this often. */
const QUEUE_PAUSED_TTL_MS = 2 * SECOND;

/** A server's listener and queue, on which the delivery of its votes depends. */
export type ListenerStatus = {
  /** Null if the server has no listener. Waiting votes are counted up to `COUNTED_AT_MOST`. */
  listener: ListenerView | null;
  /** Whether an operator has paused delivery for all servers; null if Redis does not answer. */
  queuePaused: boolean | null;
};

/** Returns a reader of a listener's state, cheap enough for pages that refresh every few seconds. */
export function listenerStatusReader(deps: AppDeps): (serverId: ObjectId) => Promise<ListenerStatus> {
  const cachedQueuePaused = cachedFor(QUEUE_PAUSED_TTL_MS, () => readQueuePaused(deps));
  return async (serverId) => {
    const [listener, paused] = await Promise.all([
      showListener(deps, serverId, COUNTED_AT_MOST),
      cachedQueuePaused(),
    ]);
    return { listener, queuePaused: paused };
  };
}
