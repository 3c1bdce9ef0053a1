import type { Processor } from 'bullmq';
import type { AppDeps } from '../src/process/app-deps.ts';
import { recomputeRanks } from '../src/ranking/recompute-ranks.ts';

/** Computes the rank of every listed server. If a run is interrupted, the next round computes the ranks. */
export function recomputeRanksWorker(deps: AppDeps, stop: AbortSignal): Processor {
  return async () => {
    const ranked = await recomputeRanks(deps, { signal: stop });
    deps.log.info({ event: 'ranks.computed', ...ranked });
    return ranked;
  };
}
