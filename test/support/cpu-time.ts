/** The CPU time in milliseconds that this process spends on `work`. It does not depend on the load of the machine. */
export function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return since(before);
}

/** The CPU time in milliseconds that this process has spent since `before`, a value of `process.cpuUsage()`. */
export function since(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
