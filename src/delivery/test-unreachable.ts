import type { Collection, ObjectId } from 'mongodb';
import type { Clock } from '../clock.ts';
import type { Producer } from '../queues.ts';
import type { Listener } from './listener.ts';

/**
 * A server has come back: its vote listener, if it is unreachable and not paused, is tested now instead of at its
 * next planned time (delivery rules, breaker). Without Redis the relay finds the test due.
 *
 * @returns whether there was such a listener
 */
export async function testUnreachableListener(
  { listeners, producer, clock }: { listeners: Collection<Listener>; producer: Producer; clock: Clock },
  serverId: ObjectId,
): Promise<boolean> {
  const now = clock.now();
  const forward = { $gt: ['$breaker.nextTestAt', now] };
  const listener = await listeners.findOneAndUpdate(
    { serverId, pause: null, 'breaker.openSince': { $type: 'date' } },
    [
      {
        $set: {
          'breaker.nextTestAt': { $min: ['$breaker.nextTestAt', now] },
          'breaker.hastenedBy': { $cond: [forward, 'server-returned', '$breaker.hastenedBy'] },
        },
      },
    ],
    { projection: { _id: 1 } },
  );
  if (!listener) return false;
  const payload = { serverId: serverId.toHexString(), listenerId: listener._id.toHexString() };
  await producer.add('forward-votes', payload, { hasten: true });
  return true;
}
