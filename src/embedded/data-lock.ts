import type { Stats } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lock } from 'proper-lockfile';
import { MINUTE, SECOND } from '../platform/clock.ts';
import { type Say, ServiceError } from './service-error.ts';

/** A lock whose holder was killed counts as free after this time. */
const STALE_MS = 10 * SECOND;
const RETRY_MS = 200;
/** Nobody waits longer than a first start with its downloads may take. */
const WAIT_MS = 10 * MINUTE;

/**
 * Runs `work` while no other process does so for the same `dataDir`; makes the folder. It is held while
 * services are found and started, never while they run.
 *
 * @throws {ServiceError} when the folder cannot be made or written, or another process holds it for 10 minutes.
 */
export async function withDataLock<T>(dataDir: string, say: Say, work: () => Promise<T>): Promise<T> {
  await makeFolder(dataDir).catch((error: Error) => {
    throw new ServiceError(
      `The data folder cannot be made (${error.message}): set DATA_DIR to one that you may write.`,
    );
  });
  const release = await take(dataDir, SECOND).catch((error) => {
    if (!isHeld(error)) {
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
 * Makes an absolute folder and those above it. Node's own `recursive` never ends where the system says ENOENT
 * of a folder whose parent is there, as /proc does.
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
  const retries = {
    retries: Math.ceil(timeoutMs / RETRY_MS),
    factor: 1,
    minTimeout: RETRY_MS,
    maxTimeout: RETRY_MS,
  };
  return await lock(dataDir, {
    lockfilePath: join(dataDir, 'services.lock'),
    stale: STALE_MS,
    retries,
    // A machine that slept: what this process is about to write is still right, and mongod locks its own data.
    onCompromised: () => undefined,
  });
}

function isHeld(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ELOCKED';
}
