import type { Ask } from '../../probing/ask.ts';
import type { Platform } from '../../process/app-deps.ts';

/** Dependencies of the pages in this folder. */
export type DashboardSources = {
  platform: Platform;
  /** Probes a game server once. */
  ask: Ask;
};
