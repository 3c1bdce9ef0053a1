import { DELIVERY_QUEUES } from '../listeners/delivery-queues.ts';
import { SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
import { QUEUE_NAMES, type QueueName } from '../platform/queues.ts';
import type { AppDeps } from './app-deps.ts';

/**
 * The queues whose keys Redis does not read in time. A `PING` does not show this: any node of a Redis Cluster answers
 * it, even if the shard of a queue has no primary. Nor does the connection's status: if Redis is suspended, its
 * connections stay open.
 */
export async function unavailableQueues(
  { producerRedis, queues }: AppDeps,
  ms: number,
): Promise<QueueName[]> {
  if (producerRedis.status !== 'ready') return QUEUE_NAMES;
  const checks = QUEUE_NAMES.map(async (name) => {
    try {
      await within(ms, producerRedis.exists(queues[name].toKey('meta')));
      return [];
    } catch {
      return [name];
    }
  });
  return (await Promise.all(checks)).flat();
}

/** `''` when there are none. */
export function describeUnavailable(queues: QueueName[]): string {
  if (queues.length === 0) return '';
  const which = queues.length === QUEUE_NAMES.length ? '' : ` for the queues ${queues.join(', ')}`;
  return `Redis does not answer${which}: votes are accepted and forwarded when it is back`;
}

/**
 * Whether one of the delivery queues is paused: the queue that handles a listener's votes changes with the listener's
 * state. Null when Redis does not answer.
 */
export async function readQueuePaused({ producerRedis, queues }: AppDeps): Promise<boolean | null> {
  if (producerRedis.status !== 'ready') return null;
  try {
    const paused = DELIVERY_QUEUES.map((name) => queues[name].isPaused());
    return (await within(SECOND, Promise.all(paused))).includes(true);
  } catch {
    return null;
  }
}

export type FailedJobs = { queue: QueueName; failed: number; newest: { at: Date; reason: string } };

const LONGEST_REASON = 300;

/** The queue with the newest failed job first. Call it only while Redis answers. */
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

/** Only the jobs that failed at `until` or earlier. */
export async function retryFailed({ queues }: AppDeps, queue: QueueName, until: Date): Promise<void> {
  await queues[queue].retryJobs({ state: 'failed', timestamp: until.getTime() });
}

const MOST_REMOVED = 1_000;

/** Returns how many jobs that failed at `until` or earlier were removed. */
export async function removeFailed({ queues }: AppDeps, queue: QueueName, until: Date): Promise<number> {
  const ageMs = Math.max(0, Date.now() - until.getTime());
  return (await queues[queue].clean(ageMs, MOST_REMOVED, 'failed')).length;
}
