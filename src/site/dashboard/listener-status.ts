import type { ObjectId } from 'mongodb';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { type ListenerView, showListener } from '../../delivery/listeners.ts';
import { SECOND } from '../../platform/clock.ts';
import { remembered } from '../../platform/deadline.ts';
import type { Platform } from '../../process/platform.ts';
import { queuePaused } from '../../process/queue-pause.ts';

/** Pages that refresh themselves ask Redis no more often than this whether the queue is paused. */
const QUEUE_ASKED_MS = 2 * SECOND;

/** What a server's votes depend on. */
export type ListenerStatus = {
  /** null: the server has none. Waiting votes are counted up to `COUNTED_AT_MOST`. */
  listener: ListenerView | null;
  /** An operator holds the votes of every server; null: Redis does not say. */
  queuePaused: boolean | null;
};

/** Reads how a server's listener stands, for pages that ask every few seconds. */
export function listenerStatusReader(platform: Platform): (serverId: ObjectId) => Promise<ListenerStatus> {
  const askWhetherPaused = remembered(QUEUE_ASKED_MS, () => queuePaused(platform));
  return async (serverId) => {
    const [listener, paused] = await Promise.all([
      showListener(platform, serverId, COUNTED_AT_MOST),
      askWhetherPaused(),
    ]);
    return { listener, queuePaused: paused };
  };
}
