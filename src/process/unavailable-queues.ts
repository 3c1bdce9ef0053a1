import { within } from '../platform/deadline.ts';
import { QUEUE_NAMES, type QueueName } from '../platform/queues.ts';
import type { Platform } from './platform.ts';

/**
 * The queues for whose own keys Redis does not answer within `ms` milliseconds; none when all is well. Any node of a
 * Redis Cluster answers a `PING`, while the shard that holds a queue may have no primary. A stopped Redis keeps its
 * connections, so only asking tells.
 */
export async function unavailableQueues(
  { producerRedis, queues }: Pick<Platform, 'producerRedis' | 'queues'>,
  ms: number,
): Promise<QueueName[]> {
  if (producerRedis.status !== 'ready') return QUEUE_NAMES;
  const asked = QUEUE_NAMES.map(async (name) => {
    try {
      await within(ms, producerRedis.exists(queues[name].toKey('meta')));
      return [];
    } catch {
      return [name];
    }
  });
  return (await Promise.all(asked)).flat();
}

/** What is told of queues that are away; `''` when none is. */
export function describeUnavailable(queues: QueueName[]): string {
  if (queues.length === 0) return '';
  const which = queues.length === QUEUE_NAMES.length ? '' : ` for the queues ${queues.join(', ')}`;
  return `Redis does not answer${which}: votes are accepted and forwarded when it is back`;
}
