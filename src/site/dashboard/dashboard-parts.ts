import type { AppDeps } from '../../process/app-deps.ts';

/** Dependencies of the pages in this folder. */
export type DashboardParts = {
  deps: AppDeps;
};
