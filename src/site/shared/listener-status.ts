import type { ObjectId } from 'mongodb';
import { type ListenerView, showListener } from '../../delivery/change-listener.ts';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { cachedFor } from '../../platform/batching/cached-for.ts';
import { SECOND } from '../../platform/clock.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { readQueuePaused } from '../../process/redis-queues.ts';

/** Pages that refresh themselves read this often. */
const QUEUE_PAUSED_TTL_MS = 2 * SECOND;

export type ListenerStatus = {
  listener: ListenerView | null;
  /** Of all servers; null if Redis does not answer. */
  queuePaused: boolean | null;
};

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
