import type { Collection, ObjectId } from 'mongodb';
import { testUnreachableListener } from '../delivery/test-unreachable.ts';
import type { Listener } from '../listeners/listener.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Producer } from '../platform/producer.ts';

export type WakeDeps = { listeners: Collection<Listener>; producer: Producer; clock: Clock; log: Logger };

/** Call this when a server is back. If its vote listener is unreachable, it is tested now. Errors are only logged. */
export async function testReturnedListener(deps: WakeDeps, serverId: ObjectId): Promise<void> {
  try {
    await testUnreachableListener(deps, serverId);
  } catch (error) {
    // If this fails: the listener is tested at its planned time instead.
    deps.log.warn({
      event: 'status.listener_not_woken',
      serverId: serverId.toHexString(),
      reason: String(error),
    });
  }
}
