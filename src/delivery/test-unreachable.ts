import type { ObjectId } from 'mongodb';
import { QUEUE_FIELDS, wakeListener } from '../listeners/delivery-queues.ts';
import type { DeliveryDeps } from './deps.ts';
import { withEarlierTest } from './drain/listener-lease.ts';

/**
 * Called when a game server is online again: tests its unreachable listener now instead of at its next planned time
 * (docs/delivery.md). If Redis is unavailable, the sweep finds the test due. If a running test overwrites the new time,
 * the end of the worker's lease sets it again. Returns whether there was such a listener.
 */
export async function testUnreachableListener(
  { listeners, producer, clock }: DeliveryDeps,
  serverId: ObjectId,
): Promise<boolean> {
  const now = clock.now();
  const called = { $mergeObjects: ['$lease', { called: true, testAt: now }] };
  const listener = await listeners.findOneAndUpdate(
    { serverId, pause: null, 'breaker.openSince': { $type: 'date' } },
    [
      {
        $set: { breaker: withEarlierTest(now), lease: { $cond: [{ $gt: ['$lease', null] }, called, null] } },
      },
    ],
    { projection: { serverId: 1, ...QUEUE_FIELDS } },
  );
  if (!listener) return false;
  await wakeListener(producer, listener, { hasten: true });
  return true;
}
