import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './binary.ts';

/** Where downloaded programs are kept, for all checkouts of one user. */
export function cacheFolder(env: Environment): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'tallyport');
}
