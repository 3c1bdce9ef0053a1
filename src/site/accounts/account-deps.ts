import type { Auth } from '../../accounts/auth.ts';
import type { KnownDevices } from '../../accounts/known-devices.ts';
import type { Platform } from '../../process/app-deps.ts';

/** Dependencies of the pages in this folder. */
export type AccountSources = { platform: Platform; auth: Auth; devices: KnownDevices };
