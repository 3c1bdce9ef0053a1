import type { Processor } from 'bullmq';
import { tellOwners } from '../src/notifications/tell-owners.ts';
import type { Platform } from '../src/process/platform.ts';

/** Writes the mails that owners are to get about their listeners. What a stop cuts short, the next round does. */
export function tellOwnersWorker(platform: Platform, stop: AbortSignal): Processor {
  return async () => {
    const written = await tellOwners(platform, stop);
    if (written > 0) platform.log.info({ event: 'notices.written', written });
    return { written };
  };
}
