import type { ObjectId } from 'mongodb';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { type ListenerView, showListener } from '../../delivery/listeners.ts';
import { SECOND } from '../../platform/clock.ts';
import { remembered } from '../../platform/deadline.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { queuePaused } from '../../process/queue-pause.ts';

/** How long the paused state of the queue is cached, for pages that refresh themselves. */
const QUEUE_PAUSED_TTL_MS = 2 * SECOND;

/** What the delivery of a server's votes depends on. */
export type ListenerStatus = {
  /** null if the server has none. Waiting votes are counted up to `COUNTED_AT_MOST`. */
  listener: ListenerView | null;
  /** Whether an operator has paused delivery for all servers; null if Redis does not answer. */
  queuePaused: boolean | null;
};

/** Reads the state of a server's listener, for pages that refresh every few seconds. */
export function listenerStatusReader(deps: AppDeps): (serverId: ObjectId) => Promise<ListenerStatus> {
  const readQueuePaused = remembered(QUEUE_PAUSED_TTL_MS, () => queuePaused(deps));
  return async (serverId) => {
    const [listener, paused] = await Promise.all([
      showListener(deps, serverId, COUNTED_AT_MOST),
      readQueuePaused(),
    ]);
    return { listener, queuePaused: paused };
  };
}
