import type { Platform } from '../../process/app-deps.ts';

/** Dependencies of the pages in this folder. */
export type AdminSources = { platform: Platform };
