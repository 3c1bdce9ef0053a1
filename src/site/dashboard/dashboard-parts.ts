import type { AppDeps } from '../../process/app-deps.ts';

export type DashboardParts = {
  deps: AppDeps;
};
