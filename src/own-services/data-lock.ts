import type { Stats } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lock } from 'proper-lockfile';
import { MINUTE, SECOND } from '../platform/clock.ts';
import { type Say, ServiceError } from './service-error.ts';

const STALE_MS = 10 * SECOND;
const RETRY_MS = 200;
/** The longest wait for the lock, enough for a first start with its downloads. */
const WAIT_MS = 10 * MINUTE;

/**
 * Makes `dataDir` and runs `work` while this process has the folder's lock. A process needs the lock while it finds and
 * starts services, not while they run.
 *
 * @throws {ServiceError} when the folder cannot be made or written; an error with the code `ELOCKED` when another
 *   process has the lock for 10 minutes
 */
export async function withDataLock<T>(dataDir: string, say: Say, work: () => Promise<T>): Promise<T> {
  await makeFolder(dataDir).catch((error: Error) => {
    throw new ServiceError(
      `The data folder cannot be made (${error.message}): set DATA_DIR to one that you may write.`,
    );
  });
  const release = await take(dataDir, SECOND).catch((error) => {
    if (!isLocked(error)) {
      throw new ServiceError(
        `The data folder cannot be written (${error.message}): set DATA_DIR to one that you may write.`,
      );
    }
    say('Another start of Tallyport with this data folder is under way: waiting for it …');
    return take(dataDir, WAIT_MS);
  });
  try {
    return await work();
  } finally {
    await release().catch(() => undefined);
  }
}

/**
 * Makes a folder and its parents; `path` must be absolute. Node's `recursive` option never returns if the system reports
 * ENOENT although the parent exists, as in /proc.
 */
async function makeFolder(path: string): Promise<void> {
  const parent = dirname(path);
  if (!(await find(parent))) await makeFolder(parent);
  await mkdir(path, { mode: 0o700 }).catch(async (error) => {
    if (!(await find(path))?.isDirectory()) throw error;
  });
}

async function find(path: string): Promise<Stats | undefined> {
  return await stat(path).catch(() => undefined);
}

async function take(dataDir: string, timeoutMs: number): Promise<() => Promise<void>> {
  const retries = { retries: Math.ceil(timeoutMs / RETRY_MS), minTimeout: RETRY_MS, maxTimeout: RETRY_MS };
  return await lock(dataDir, {
    lockfilePath: join(dataDir, 'services.lock'),
    stale: STALE_MS,
    retries,
    // If the machine sleeps, the lock expires. It is safe to continue, because mongod locks its own data.
    onCompromised: () => undefined,
  });
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ELOCKED';
}
