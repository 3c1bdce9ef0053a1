import type { Collection, ObjectId } from 'mongodb';
import { testUnreachableListener } from '../delivery/test-unreachable.ts';
import type { Listener } from '../listeners/listener.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Producer } from '../platform/queues.ts';

/** What waking a listener works on. */
export type Waking = { listeners: Collection<Listener>; producer: Producer; clock: Clock; log: Logger };

/** A server has returned: its unreachable vote listener is tested now. Where that fails it is only logged. */
export async function wakeListener(deps: Waking, serverId: ObjectId): Promise<void> {
  try {
    await testUnreachableListener(deps, serverId);
  } catch (error) {
    // The listener is tested at its own time.
    deps.log.warn({
      event: 'status.listener_not_woken',
      serverId: serverId.toHexString(),
      reason: String(error),
    });
  }
}
