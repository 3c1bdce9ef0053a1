import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './binary.ts';

/** A copy of this process's environment, to look programs up and to hand to child processes. */
export function ownEnvironment(): Environment {
  return { ...process.env };
}

/** Where downloaded programs are kept, for all checkouts of one person. */
export function cacheFolder(env: Environment): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'tallyport');
}
