import type { Auth } from '../../accounts/auth.ts';
import type { AppDeps } from '../../process/app-deps.ts';

/** Dependencies of the pages in this folder. */
export type AdminParts = { deps: AppDeps; auth: Auth };
