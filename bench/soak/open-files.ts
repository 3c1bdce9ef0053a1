import { readdir, readFile, readlink } from 'node:fs/promises';

/**
 * The number of open files of a process: all of them, and those that are not connections at one of the `pooled` ports
 * (of a service, or of callers). Pools keep the connections that a busy moment needed, so their number is no leak.
 */
export async function openFiles(
  pid: number,
  pooled: ReadonlySet<number>,
): Promise<{ all: number; others: number }> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder);
  const [targets, inPools] = await Promise.all([
    // A file may be closed in the meantime.
    Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => ''))),
    connectionsAt(pid, pooled),
  ]);
  return { all: names.length, others: targets.filter((target) => !inPools.has(target)).length };
}

/** The TCP connections with one of `ports` at either end, as `readlink` names them. */
async function connectionsAt(pid: number, ports: ReadonlySet<number>): Promise<Set<string>> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((kind) => readFile(`/proc/${pid}/net/${kind}`, 'utf8')),
  );
  const found = new Set<string>();
  for (const line of tables.flatMap((table) => table.split('\n').slice(1))) {
    const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/);
    if (local && remote && (ports.has(portOf(local)) || ports.has(portOf(remote))))
      found.add(`socket:[${inode}]`);
  }
  return found;
}

/** The kernel writes an address as `0100007F:1F90`. */
function portOf(address: string): number {
  return Number.parseInt(address.slice(address.indexOf(':') + 1), 16);
}
