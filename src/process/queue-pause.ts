import { DELIVERY_QUEUES } from '../listeners/delivery-queues.ts';
import { SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
import type { AppDeps } from './app-deps.ts';

/** How long to wait for Redis at most. */
const TIMEOUT_MS = SECOND;

/**
 * Whether an operator has paused at least one of the delivery queues. All are checked, because the queue that handles a
 * listener's votes changes with the listener's state. Only Redis has this information.
 *
 * @returns null when Redis does not answer
 */
export async function readQueuePaused({ producerRedis, queues }: AppDeps): Promise<boolean | null> {
  if (producerRedis.status !== 'ready') return null;
  try {
    const paused = DELIVERY_QUEUES.map((name) => queues[name].isPaused());
    return (await within(TIMEOUT_MS, Promise.all(paused))).includes(true);
  } catch {
    return null;
  }
}
