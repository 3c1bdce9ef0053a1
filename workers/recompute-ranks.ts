import type { Processor } from 'bullmq';
import type { Platform } from '../src/process/platform.ts';
import { recomputeRanks } from '../src/ranking/recompute-ranks.ts';

/** Gives every listed server its place. What a stop cuts short, the next round does. */
export function recomputeRanksWorker(platform: Platform, stop: AbortSignal): Processor {
  return async () => {
    const ranked = await recomputeRanks(platform, { signal: stop });
    platform.log.info({ event: 'ranks.computed', ...ranked });
    return ranked;
  };
}
