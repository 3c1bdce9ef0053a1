import type { Processor } from 'bullmq';
import { notifyOwners } from '../src/notifications/notify-owners.ts';
import type { Platform } from '../src/process/app-deps.ts';

/** Writes notifications to owners about their servers. After an interruption the next round does it. */
export function notifyOwnersWorker(platform: Platform, stop: AbortSignal): Processor {
  return async () => {
    const written = await notifyOwners(platform, stop);
    if (written > 0) platform.log.info({ event: 'notifications.written', written });
    return { written };
  };
}
