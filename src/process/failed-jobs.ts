import { QUEUE_NAMES, type QueueName } from '../platform/queues.ts';
import type { AppDeps } from './app-deps.ts';

export type FailedJobs = { queue: QueueName; failed: number; newest: { at: Date; reason: string } };

/** A longer reason is cut after this number of characters. */
const LONGEST_REASON = 300;

/** The queues with failed jobs, the queue with the newest failed job first. Call it only while Redis answers. */
export async function failedJobs({ queues }: AppDeps): Promise<FailedJobs[]> {
  const found = await Promise.all(
    QUEUE_NAMES.map(async (queue) => {
      const [failed, [newest]] = await Promise.all([
        queues[queue].getFailedCount(),
        queues[queue].getFailed(0, 0),
      ]);
      if (!newest) return [];
      const reason = (newest.failedReason ?? '').slice(0, LONGEST_REASON);
      return [{ queue, failed, newest: { at: new Date(newest.finishedOn ?? newest.timestamp), reason } }];
    }),
  );
  return found.flat().toSorted((one, other) => other.newest.at.getTime() - one.newest.at.getTime());
}

/** Retries the jobs of a queue that failed at `until` or earlier. A queue stores at most 500 failed jobs. */
export async function retryFailed({ queues }: AppDeps, queue: QueueName, until: Date): Promise<void> {
  await queues[queue].retryJobs({ state: 'failed', timestamp: until.getTime() });
}

/** The most failed jobs that one call removes. */
const MOST_REMOVED = 1_000;

/** Removes the jobs of a queue that failed at `until` or earlier. Returns how many were removed. */
export async function removeFailed({ queues }: AppDeps, queue: QueueName, until: Date): Promise<number> {
  const ageMs = Math.max(0, Date.now() - until.getTime());
  return (await queues[queue].clean(ageMs, MOST_REMOVED, 'failed')).length;
}
