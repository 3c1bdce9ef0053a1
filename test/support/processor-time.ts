import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts processor time in hundredths of a second, on every platform that has /proc. */
const TICKS_PER_SECOND = 100;

/** A line of `/proc/PID/stat`: who started the process, and its ticks with those of its ended children. */
type Counted = { pid: number; parent: number; name: string; ticks: number };

/**
 * The processor seconds of a process, of its living descendants, and of those that have ended and were waited for. Each
 * child of `pid` has an entry by name, its own descendants included. Linux only.
 */
export function processorSeconds(pid: number = process.pid): {
  all: number;
  ofChildren: Map<string, number>;
} {
  const running = readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? (read(entry) ?? []) : []));
  const byParent = Map.groupBy(running, ({ parent }) => parent);
  const sum = (one: Counted): number =>
    (byParent.get(one.pid) ?? []).reduce((ticks, child) => ticks + sum(child), one.ticks);
  const ofChildren = new Map<string, number>();
  for (const child of byParent.get(pid) ?? []) {
    ofChildren.set(child.name, (ofChildren.get(child.name) ?? 0) + sum(child) / TICKS_PER_SECOND);
  }
  const own = running.find((one) => one.pid === pid);
  return { all: own ? sum(own) / TICKS_PER_SECOND : 0, ofChildren };
}

function read(pid: string): Counted | undefined {
  try {
    const [, name = '', rest = ''] =
      /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    const fields = rest.split(' ').map(Number);
    const ticks = fields.slice(11, 15).reduce((all, one) => all + one, 0);
    return { pid: Number(pid), parent: fields[1] ?? 0, name, ticks };
  } catch {
    // The process has ended since the folder was read.
    return undefined;
  }
}
