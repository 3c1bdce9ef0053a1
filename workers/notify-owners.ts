import type { Processor } from 'bullmq';
import { notifyOwners } from '../src/notifications/notify-owners.ts';
import type { AppDeps } from '../src/process/app-deps.ts';

/** Returns the processor of `tell-owners`. If a run is interrupted, the next run writes the remaining notifications. */
export function notifyOwnersWorker(deps: AppDeps, stop: AbortSignal): Processor {
  return async () => {
    const written = await notifyOwners(deps, stop);
    if (written > 0) deps.log.info({ event: 'notifications.written', written });
    return { written };
  };
}
