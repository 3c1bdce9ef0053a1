import type { Processor } from 'bullmq';
import { findUnusualVotes } from '../src/moderation/unusual-votes.ts';
import type { Platform } from '../src/process/app-deps.ts';

/** Finds unusual votes. After an interruption the next round does it. */
export function findUnusualVotesWorker(platform: Platform, stop: AbortSignal): Processor {
  return async () => {
    const result = await findUnusualVotes(platform, { signal: stop });
    platform.log.info({ event: 'votes.unusual', ...result });
    return result;
  };
}
