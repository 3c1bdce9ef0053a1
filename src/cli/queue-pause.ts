import type { Platform } from '../process/platform.ts';
import { queuePaused as askWhetherPaused } from '../process/queue-pause.ts';
import { redisAnswers } from './session.ts';

/** What a paused queue means, beside what is shown of a vote or a listener. */
export const QUEUE_PAUSED =
  'A delivery queue is paused: votes may wait until it is resumed on the queue board (/operator/queues)';

/** Whether an operator paused one of the queues that deliver votes; null when Redis does not answer a command in time. */
export async function queuePaused(platform: Platform): Promise<boolean | null> {
  return (await redisAnswers(platform)) ? askWhetherPaused(platform) : null;
}
