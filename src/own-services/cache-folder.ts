import { homedir } from 'node:os';
import { join } from 'node:path';

import type { Variables } from '../platform/environment.ts';

/** The folder of downloaded programs, shared by all checkouts of a user. */
export function cacheFolder(env: Variables): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'tallyport');
}
