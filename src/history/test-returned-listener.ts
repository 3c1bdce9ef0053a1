import type { ObjectId } from 'mongodb';
import { testUnreachableListener } from '../delivery/test-unreachable.ts';
import type { HistoryDeps } from './deps.ts';

/** Call this when a server is back. Errors are only logged: the listener is tested at its planned time then. */
export async function testReturnedListener(deps: HistoryDeps, serverId: ObjectId): Promise<void> {
  try {
    await testUnreachableListener(deps, serverId);
  } catch (error) {
    deps.log.warn({
      event: 'status.listener_not_woken',
      serverId: serverId.toHexString(),
      reason: String(error),
    });
  }
}
