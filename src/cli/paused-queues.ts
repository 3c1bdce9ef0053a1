import type { AppDeps } from '../process/app-deps.ts';
import { readQueuePaused } from '../process/redis-queues.ts';
import { redisAnswers } from './session.ts';

/** A remark beside a vote or listener while a delivery queue is paused. */
export const QUEUE_PAUSED =
  'A delivery queue is paused: votes may wait until it is resumed on the queue board (/operator/queues)';

/** Whether an operator paused one of the queues that deliver votes; null if Redis does not answer in time. */
export async function queuePaused(deps: AppDeps): Promise<boolean | null> {
  return (await redisAnswers(deps)) ? readQueuePaused(deps) : null;
}
