import { DELIVERY_QUEUES } from '../listeners/delivery-queues.ts';
import { SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
import type { AppDeps } from './app-deps.ts';

/** The longest wait for Redis. */
const TIMEOUT_MS = SECOND;

/**
 * Whether an operator paused one of the queues that deliver votes. Only Redis knows it. The queue of a listener depends
 * on its state, so its votes may be in any of them.
 *
 * @returns null when Redis does not answer
 */
export async function queuePaused({
  producerRedis,
  queues,
}: Pick<AppDeps, 'producerRedis' | 'queues'>): Promise<boolean | null> {
  if (producerRedis.status !== 'ready') return null;
  try {
    const paused = DELIVERY_QUEUES.map((name) => queues[name].isPaused());
    return (await within(TIMEOUT_MS, Promise.all(paused))).includes(true);
  } catch {
    return null;
  }
}
