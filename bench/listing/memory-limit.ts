import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';

/**
 * A control group that limits the memory of a process. As in a container, the kernel kills a process that exceeds the
 * limit.
 */
export type MemoryLimit = {
  /**
   * Puts a process into the group. Call it right after the start: memory counts in the group in which it was first
   * used.
   */
  add(pid: number): void;
  /** The peak memory of the group in MB, including cached pages of files. */
  peakMb(): number;
  remove(): void;
};

const MEGABYTE = 1_024 * 1_024;

/** Creates a group with a limit; null if this user may not create groups, or if the system has none. */
export function limitMemory(megabytes: number): MemoryLimit | null {
  const isV2 = existsSync('/sys/fs/cgroup/cgroup.controllers');
  const folder = `/sys/fs/cgroup/${isV2 ? '' : 'memory/'}tallyport-bench-${process.pid}`;
  const [limit, peak] = isV2
    ? ['memory.max', 'memory.peak']
    : ['memory.limit_in_bytes', 'memory.max_usage_in_bytes'];
  try {
    mkdirSync(folder);
    writeFileSync(`${folder}/${limit}`, String(megabytes * MEGABYTE));
  } catch {
    return null;
  }
  return {
    add: (pid) => writeFileSync(`${folder}/cgroup.procs`, String(pid)),
    peakMb: () => Number(readFileSync(`${folder}/${peak}`, 'utf8')) / MEGABYTE,
    remove: () => rmdirSync(folder),
  };
}
