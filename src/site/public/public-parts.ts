import type { AppDeps } from '../../process/app-deps.ts';
import type { Metrics } from '../../process/metrics.ts';

/** Dependencies of the pages in this folder. */
export type PublicParts = { deps: AppDeps; metrics: Metrics };
