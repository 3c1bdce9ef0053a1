import { setTimeout as pause } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { SECOND } from '../src/platform/clock.ts';
import { within } from '../src/platform/deadline.ts';
import type { Logger } from '../src/platform/log.ts';
import type { QueueName } from '../src/platform/queues.ts';

/** How often a worker is compared with its queue. It is stuck after two comparisons. */
const COMPARED_EVERY_MS = 10 * SECOND;

/** A Redis that takes longer to answer is unavailable: then no worker is stuck. */
const TIMEOUT_MS = 2 * SECOND;

/** What a worker of this process does. */
export type Activity = {
  /** Jobs that it runs now. */
  running: number;
  /** Jobs that it has taken since it started. */
  taken: number;
  /** Jobs that it may run at once. */
  concurrency: number;
};

type Watch = {
  queues: Record<QueueName, Queue>;
  log: Logger;
  /** The activity of each worker of this process. */
  activities: Map<QueueName, Activity>;
  /** Starts another worker for the queue and closes the stuck one when its jobs have ended. */
  replace: (name: QueueName) => void;
  everyMs?: number | undefined;
};

/**
 * Replaces each worker that takes no job for two comparisons although jobs wait, it has free slots and its queue is not
 * paused. BullMQ had several errors that left a worker in this state after Redis was unavailable (its issues 3088, 4479
 * and 4586). Runs until `stopping` is aborted.
 */
export async function replaceStuckWorkers(watch: Watch, stopping: AbortSignal): Promise<void> {
  const { queues, log, activities, replace, everyMs = COMPARED_EVERY_MS } = watch;
  const suspects = new Map<QueueName, number>();
  while (!stopping.aborted) {
    await pause(everyMs, undefined, { signal: stopping }).catch(() => undefined);
    for (const [name, activity] of activities) {
      const waiting = await jobsLeftWaiting(queues[name], activity);
      if (stopping.aborted) return;
      const { taken } = activity;
      if (waiting > 0 && suspects.get(name) === taken) {
        log.error(
          { event: 'worker.replaced', queue: name, waiting },
          'a worker took no job although jobs waited',
        );
        replace(name);
        suspects.delete(name);
      } else if (waiting > 0) suspects.set(name, taken);
      else suspects.delete(name);
    }
  }
}

/** Jobs that wait although this worker could take them; 0 when Redis is unavailable. */
async function jobsLeftWaiting(queue: Queue, { running, concurrency }: Activity): Promise<number> {
  if (running >= concurrency) return 0;
  try {
    const [waiting, isPaused] = await within(
      TIMEOUT_MS,
      Promise.all([queue.getWaitingCount(), queue.isPaused()]),
    );
    return isPaused ? 0 : waiting;
  } catch {
    return 0;
  }
}
