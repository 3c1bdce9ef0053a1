import type { Ask } from '../../probing/ask.ts';
import type { Platform } from '../../process/platform.ts';

/** What the pages of this folder work with. */
export type DashboardSources = {
  platform: Platform;
  /** Asks a game server once. */
  ask: Ask;
};
