import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identityOf, isAlive, type ProcessIdentity } from '../../src/embedded/process-identity.ts';

const ROOT = join(tmpdir(), 'tallyport-test-services');

/** A fresh folder that says which process it belongs to. */
export async function ownedFolder(): Promise<string> {
  await mkdir(ROOT, { recursive: true });
  const dir = await mkdtemp(join(ROOT, 'service-'));
  await writeFile(join(dir, 'owner.json'), JSON.stringify(await identityOf(process.pid)));
  return dir;
}

/**
 * Removes the folders whose process is gone, and ends the service that still works in one of them: a test
 * process that is killed leaves its services behind, which have process groups of their own.
 */
export async function sweepFolders(): Promise<void> {
  for (const name of await readdir(ROOT).catch(() => [])) {
    const dir = join(ROOT, name);
    const owner = await readFile(join(dir, 'owner.json'), 'utf8').catch(() => undefined);
    // A folder without an owner is being made at this moment.
    if (owner === undefined || (await isAlive(JSON.parse(owner)))) continue;
    const service = await readFile(join(dir, 'service.json'), 'utf8').catch(() => undefined);
    if (service !== undefined) await end(JSON.parse(service));
    await rm(dir, { recursive: true, force: true });
  }
}

/** Notes down the process that works in `dir`. */
export async function noteService(dir: string, pid: number): Promise<void> {
  await writeFile(join(dir, 'service.json'), JSON.stringify(await identityOf(pid)));
}

async function end(service: ProcessIdentity): Promise<void> {
  if (!(await isAlive(service))) return;
  process.kill(service.pid, 'SIGKILL');
  while (await isAlive(service)) await pause(20);
}
