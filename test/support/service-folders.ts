import { accessSync, constants, statfsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identityOf, isAlive, type ProcessIdentity } from '../../src/own-services/process-identity.ts';

const NAME = 'tallyport-test-services';
const ON_DISK = join(tmpdir(), NAME);
/** A file system in memory. On a disk, a durable service spends most of its time waiting. */
const IN_MEMORY = '/dev/shm';
/** The databases of a whole run take half of this space. */
const ENOUGH_BYTES = 8 * 1_024 ** 3;

/** The folder for the databases: in memory if there is enough room. */
function quickest(): string {
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize < ENOUGH_BYTES ? ON_DISK : join(IN_MEMORY, NAME);
  } catch {
    return ON_DISK;
  }
}

/**
 * Creates a folder with a record of the process that owns it.
 *
 * @param onDisk - for measurements that must wait for a disk, as in production
 */
export async function ownedFolder(onDisk = false): Promise<string> {
  const root = onDisk ? ON_DISK : quickest();
  await mkdir(root, { recursive: true });
  const dir = await mkdtemp(join(root, 'service-'));
  await writeFile(join(dir, 'owner.json'), JSON.stringify(await identityOf(process.pid)));
  return dir;
}

/**
 * Removes the folders whose owning process has ended, and ends the service that still runs in one of them. If a test
 * process is killed, its services remain, because they have process groups of their own.
 */
export async function sweepFolders(): Promise<void> {
  for (const root of [ON_DISK, join(IN_MEMORY, NAME)]) {
    for (const name of await readdir(root).catch(() => [])) await sweep(join(root, name));
  }
}

async function sweep(dir: string): Promise<void> {
  const owner = await readFile(join(dir, 'owner.json'), 'utf8').catch(() => undefined);
  // A folder without an owner is just being created.
  if (owner === undefined || (await isAlive(JSON.parse(owner)))) return;
  const service = await readFile(join(dir, 'service.json'), 'utf8').catch(() => undefined);
  if (service !== undefined) await end(JSON.parse(service));
  await rm(dir, { recursive: true, force: true });
}

/** Records the process that runs in `dir`. */
export async function noteService(dir: string, pid: number): Promise<void> {
  await writeFile(join(dir, 'service.json'), JSON.stringify(await identityOf(pid)));
}

async function end(service: ProcessIdentity): Promise<void> {
  if (!(await isAlive(service))) return;
  process.kill(service.pid, 'SIGKILL');
  while (await isAlive(service)) await pause(20);
}
