import type { ObjectId } from 'mongodb';
import { QUEUE_FIELDS, wakeListener } from '../listeners/delivery-queues.ts';
import type { DeliveryDeps } from './deps.ts';
import { withEarlierTest } from './drain/listener-lease.ts';

/**
 * Called when a game server is online again. If its vote listener is unreachable and not paused, it is tested now
 * instead of at its next planned time (docs/delivery.md). If Redis is unavailable, the sweep finds that the test is
 * due. If a worker owns the lease and its running test overwrites the new time, the end of the lease sets the new time
 * again.
 *
 * @returns whether there was such a listener
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
