import type { Auth } from '../../accounts/auth.ts';
import type { KnownDevices } from '../../accounts/known-devices.ts';
import type { AppDeps } from '../../process/app-deps.ts';

export type AccountParts = { deps: AppDeps; auth: Auth; devices: KnownDevices };
