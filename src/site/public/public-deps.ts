import type { Platform } from '../../process/app-deps.ts';
import type { Metrics } from '../../process/metrics.ts';

/** Dependencies of the pages in this folder. */
export type ListingSources = { platform: Platform; metrics: Pick<Metrics, 'voteEnded'> };
