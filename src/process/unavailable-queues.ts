import { within } from '../platform/deadline.ts';
import { QUEUE_NAMES, type QueueName } from '../platform/queues.ts';
import type { AppDeps } from './app-deps.ts';

/**
 * The queues whose keys Redis does not read within `ms` milliseconds; empty when all are available. A `PING` does not
 * show this: any node of a Redis Cluster answers it, even if the shard of a queue has no primary. The connection's
 * status does not show it either: if Redis is suspended, its connections stay open.
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

/** A sentence that names unavailable queues; `''` when there are none. */
export function describeUnavailable(queues: QueueName[]): string {
  if (queues.length === 0) return '';
  const which = queues.length === QUEUE_NAMES.length ? '' : ` for the queues ${queues.join(', ')}`;
  return `Redis does not answer${which}: votes are accepted and forwarded when it is back`;
}
