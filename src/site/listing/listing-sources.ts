import type { Metrics } from '../../process/metrics.ts';
import type { Platform } from '../../process/platform.ts';

/** Dependencies of the pages in this folder. */
export type ListingSources = { platform: Platform; metrics: Pick<Metrics, 'voteEnded'> };
