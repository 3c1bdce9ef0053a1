import type { Processor } from 'bullmq';
import type { AppDeps } from '../src/process/app-deps.ts';
import { recomputeRanks } from '../src/ranking/recompute-ranks.ts';

/** Returns the processor of `recompute-ranks`. If a run is interrupted, the next run computes all ranks. */
export function recomputeRanksWorker(deps: AppDeps, stop: AbortSignal): Processor {
  return async () => {
    const ranked = await recomputeRanks(deps, { signal: stop });
    deps.log.info({ event: 'ranks.computed', ...ranked });
    return ranked;
  };
}
