import { setTimeout as pause } from 'node:timers/promises';
import { cpuSeconds, residentMb } from './environment.ts';

/** A quantile: `quantile(times, 0.99)` is the value that 99 % of `times` do not exceed. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function median(values: number[]): number {
  return quantile(values, 0.5);
}

/** Compares a figure with its aim: `0.62 (aim ≥ 0.5: met)`. */
export function against(aim: string, met: boolean): string {
  return `(aim ${aim}: ${met ? 'met' : 'MISSED'})`;
}

/** Measures the CPU use of each process, as a share of one CPU, until the returned function is called. */
export async function watchCpu(pids: Record<string, number[]>): Promise<() => Promise<string>> {
  const began = performance.now();
  const used = async () => {
    const sums = Object.entries(pids).map(async ([name, some]) => {
      const seconds = await Promise.all(some.map((pid) => cpuSeconds(pid)));
      return [name, seconds.reduce((sum, one) => sum + one, 0)] as const;
    });
    return Promise.all(sums);
  };
  const before = new Map(await used());
  return async () => {
    const seconds = (performance.now() - began) / 1_000;
    const shares = (await used()).map(
      ([name, after]) => `${name} ${((100 * (after - (before.get(name) ?? 0))) / seconds).toFixed(0)} %`,
    );
    return `CPU: ${shares.join(', ')} of one core`;
  };
}

/** Records the memory of each kind of process. The result is the maximum over the calls of `measure()`. */
export function watchMemory(pids: Record<string, number[]>): { measure(): Promise<void>; shown(): string } {
  const most: Record<string, number> = {};
  return {
    async measure() {
      for (const [name, some] of Object.entries(pids)) {
        const megabytes = await Promise.all(some.map((pid) => residentMb(pid)));
        most[name] = Math.max(most[name] ?? 0, ...megabytes);
      }
    },
    shown() {
      const all = Object.entries(most).map(([name, mb]) => `${name} ${mb.toFixed(0)} MB`);
      return `memory at most: ${all.join(', ')}`;
    },
  };
}

/** Waits until `done` returns true. */
export async function until(done: () => Promise<boolean>, everyMs = 100): Promise<void> {
  while (!(await done())) await pause(everyMs);
}
