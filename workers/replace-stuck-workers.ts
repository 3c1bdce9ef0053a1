import { setTimeout as pause } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { SECOND } from '../src/platform/clock.ts';
import { within } from '../src/platform/deadline.ts';
import type { Logger } from '../src/platform/log.ts';
import type { QueueName } from '../src/platform/queues.ts';
import type { RedisConnection } from '../src/platform/redis.ts';

/** How often each worker is compared with its queue. */
const COMPARED_EVERY_MS = 10 * SECOND;

/** If Redis takes longer to answer, it counts as unavailable, and no worker counts as stuck. */
const TIMEOUT_MS = 2 * SECOND;

/** What a worker of this process is doing. */
export type Activity = {
  /** How many jobs the worker is running. */
  running: number;
  /** How many jobs this process has taken from the queue, including those of replaced workers. */
  taken: number;
  /** How many jobs the worker may run at once. */
  concurrency: number;
};

type Watch = {
  queues: Record<QueueName, Queue>;
  producerRedis: RedisConnection;
  log: Logger;
  /** Whether the workers are paused on purpose. */
  isPaused: () => boolean;
  /** The activity of each worker of this process. */
  activities: Map<QueueName, Activity>;
  /** Starts a new worker for the queue, and closes the stuck one when its jobs have ended. */
  replace: (name: QueueName) => void;
  everyMs?: number | undefined;
};

/**
 * Replaces a worker that takes no job between two comparisons although jobs are waiting for it. Several bugs in BullMQ
 * (issues 4378, 4479 and 4585) left a worker in this state after Redis was unavailable. If the new worker takes no job
 * either, it is not replaced again. Runs until `stopping` is aborted.
 */
export async function replaceStuckWorkers(watch: Watch, stopping: AbortSignal): Promise<void> {
  const { queues, producerRedis, log, isPaused, activities, replace, everyMs = COMPARED_EVERY_MS } = watch;
  const suspects = new Map<QueueName, number>();
  const replacedAt = new Map<QueueName, number>();
  while (!stopping.aborted) {
    await pause(everyMs, undefined, { signal: stopping }).catch(() => undefined);
    // While Redis is unavailable, the commands of each comparison would be queued, and all be sent when Redis is back.
    if (producerRedis.status !== 'ready' || isPaused()) {
      suspects.clear();
      continue;
    }
    for (const [name, activity] of activities) {
      const waiting = await jobsLeftWaiting(queues[name], activity, everyMs);
      if (stopping.aborted) return;
      const { taken } = activity;
      if (waiting > 0 && suspects.get(name) === taken && replacedAt.get(name) !== taken) {
        log.error(
          { event: 'worker.replaced', queue: name, waiting },
          'a worker took no job although jobs waited',
        );
        replace(name);
        replacedAt.set(name, taken);
      }
      if (waiting > 0) suspects.set(name, taken);
      else suspects.delete(name);
    }
  }
}

/** How many waiting and overdue delayed jobs this worker could take but does not; 0 when Redis does not answer. */
async function jobsLeftWaiting(
  queue: Queue,
  { running, concurrency }: Activity,
  everyMs: number,
): Promise<number> {
  if (running >= concurrency) return 0;
  try {
    const [waiting, overdue, ...limits] = await within(
      TIMEOUT_MS,
      Promise.all([
        queue.getWaitingCount(),
        // Delayed jobs that are overdue: only a worker that takes jobs moves them to the waiting ones.
        queue.getDelayedCount(Date.now() - everyMs),
        queue.isPaused(),
        // An operator may have limited the queue in Bull Board.
        queue.isMaxed(),
        queue.getGlobalRateLimit(),
      ]),
    );
    return limits.some(Boolean) ? 0 : waiting + overdue;
  } catch {
    return 0;
  }
}
