/**
 * Milliseconds of processor time that this process spends on `work`, which do not depend on other load.
 */
export function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return since(before);
}

/** Milliseconds of processor time that this process has spent since `before`, from `process.cpuUsage()`. */
export function since(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
