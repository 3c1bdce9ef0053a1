import { SECOND } from '../clock.ts';
import { within } from '../deadline.ts';
import type { Platform } from '../platform.ts';
import { redisAnswers } from './session.ts';

/** How long a command waits for Redis to say whether the queue is paused. */
const PATIENCE_MS = SECOND;

/** What a paused queue means, beside what is shown of a vote or a listener. */
export const QUEUE_PAUSED =
  '«Forward votes» is paused: no vote of any server is sent until it is resumed on the queue board (/operator/queues)';

/**
 * Whether an operator paused the queue that forwards votes, which Redis alone knows.
 *
 * @returns null when Redis does not answer
 */
export async function queuePaused(platform: Platform): Promise<boolean | null> {
  if (!(await redisAnswers(platform))) return null;
  try {
    return await within(PATIENCE_MS, platform.queues['forward-votes'].isPaused());
  } catch {
    return null;
  }
}
