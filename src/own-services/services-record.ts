import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { SECOND } from '../platform/clock.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import type { Say } from './service-error.ts';
import { SHARED_SETTINGS } from './shared-settings.ts';

const END_TIMEOUT_MS = 20 * SECOND;

const identity = z.object({ pid: z.int().positive(), startedAt: z.string() });
const service = identity.extend({ program: z.string(), version: z.string(), port: z.int() });

const servicesRecord = z.object({
  owner: identity.extend({
    /** `platform`: `npm start`, whose services commands may use. */
    kind: z.enum(['platform', 'command']),
    address: z.string(),
  }),
  /** The platform's settings that commands need too, as text of environment variables. */
  settings: z.partialRecord(z.enum(SHARED_SETTINGS), z.string()).optional(),
  mongod: service.optional(),
  redis: service.optional(),
});

/** The content of `DATA_DIR/services.json`. */
export type ServicesRecord = z.infer<typeof servicesRecord>;

export async function readRecord(dataDir: string): Promise<ServicesRecord | undefined> {
  const text = await readFile(join(dataDir, 'services.json'), 'utf8').catch(() => '');
  try {
    return servicesRecord.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export async function writeRecord(dataDir: string, record: ServicesRecord): Promise<void> {
  const path = join(dataDir, 'services.json');
  await writeFile(`${path}.new`, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

export async function removeRecord(dataDir: string): Promise<void> {
  await rm(join(dataDir, 'services.json'), { force: true });
}

export async function endLeftOvers(dataDir: string, record: ServicesRecord, say: Say): Promise<void> {
  for (const left of [record.redis, record.mongod]) {
    if (!left || !(await isAlive(left))) continue;
    say(`Stopping ${left.program} (process ${left.pid}), left over from a start that was killed …`);
    await endProcess(left);
  }
  await removeRecord(dataDir);
}

async function endProcess(left: ProcessIdentity): Promise<void> {
  signal(left.pid, 'SIGTERM');
  // A suspended process handles SIGTERM only after SIGCONT.
  signal(left.pid, 'SIGCONT');
  const deadline = Date.now() + END_TIMEOUT_MS;
  while (await isAlive(left)) {
    if (Date.now() > deadline) signal(left.pid, 'SIGKILL');
    await pause(50);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has exited in the meantime.
  }
}
