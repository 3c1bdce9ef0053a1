import { recomputeRanks } from '../src/ranking/recompute-ranks.ts';
import { RANKS_EVERY_MINUTES } from '../src/votes/ranking-period.ts';
import type { QueueWork } from './queue-work.ts';

/** If a run is interrupted, the next run computes all ranks. */
export const recomputeRanksWork: QueueWork<'recompute-ranks'> = {
  period: { every: `${RANKS_EVERY_MINUTES} minutes` },
  processor:
    ({ deps, stop }) =>
    async () => {
      const ranked = await recomputeRanks(deps, { signal: stop });
      deps.log.info({ event: 'ranks.computed', ...ranked });
      return ranked;
    },
};
