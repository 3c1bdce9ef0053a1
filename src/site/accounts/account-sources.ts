import type { Auth } from '../../accounts/auth.ts';
import type { KnownDevices } from '../../accounts/known-devices.ts';
import type { Platform } from '../../process/platform.ts';

/** What the pages of this folder work with. */
export type AccountSources = { platform: Platform; auth: Auth; devices: KnownDevices };
