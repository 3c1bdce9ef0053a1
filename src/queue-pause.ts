import { SECOND } from './clock.ts';
import { within } from './deadline.ts';
import type { Platform } from './platform.ts';

/** How long Redis has to say whether the queue is paused. */
const PATIENCE_MS = SECOND;

/**
 * Whether an operator paused the queue that forwards votes, which Redis alone knows.
 *
 * @returns null when Redis does not answer
 */
export async function queuePaused({
  producerRedis,
  queues,
}: Pick<Platform, 'producerRedis' | 'queues'>): Promise<boolean | null> {
  if (producerRedis.status !== 'ready') return null;
  try {
    return await within(PATIENCE_MS, queues['forward-votes'].isPaused());
  } catch {
    return null;
  }
}
