import type { Platform } from '../../process/platform.ts';

/** What the pages of this folder work with. */
export type AdminSources = { platform: Platform };
