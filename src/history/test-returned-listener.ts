import type { ObjectId } from 'mongodb';
import { testUnreachableListener } from '../delivery/test-unreachable.ts';
import type { HistoryDeps } from './deps.ts';

/** Call this when a server is back. If its vote listener is unreachable, it is tested now. Errors are only logged. */
export async function testReturnedListener(deps: HistoryDeps, serverId: ObjectId): Promise<void> {
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
