import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Identifies a process. A later process with the same id has another start time. */
export type ProcessIdentity = {
  pid: number;
  /** As the operating system reports it. It is compared, never parsed. */
  startedAt: string;
};

/** Undefined if there is no such process. A zombie counts as ended. */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return await startByPs(pid);
  // Linux images often have no ps, so /proc is read (proc(5)). After the name in brackets, the first field is the
  // state, and the 20th is the start in ticks since the boot.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields[19];
  if (ticks === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return `${boot.trim()} ${ticks}`;
}

export async function identityOf(pid: number): Promise<ProcessIdentity> {
  return { pid, startedAt: (await processStart(pid)) ?? '' };
}

export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  const startedAt = await processStart(identity.pid);
  return startedAt !== undefined && startedAt === identity.startedAt;
}

async function startByPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)], {
      env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' },
    });
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
