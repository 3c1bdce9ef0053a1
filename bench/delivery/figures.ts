import { setTimeout as pause } from 'node:timers/promises';
import type { AppDeps } from '../../src/process/app-deps.ts';
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
      ([name, after]) => `${name} ${((100 * (after - (before.get(name) ?? 0))) / seconds).toFixed(1)} %`,
    );
    return `CPU: ${shares.join(', ')} of one core`;
  };
}

/** The commands that mongod and Redis have run so far, by name: `mongod find`, `redis evalsha`. */
async function commandCounts({ mongo, producerRedis }: AppDeps): Promise<Map<string, number>> {
  const { metrics } = await mongo.db.admin().command({ serverStatus: 1 });
  const ofMongod = Object.entries<{ total?: unknown }>(metrics.commands).flatMap(([name, { total }]) => {
    return total === undefined ? [] : [[`mongod ${name}`, Number(total)] as const];
  });
  const ofRedis = [
    ...(await producerRedis.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm),
  ].map(([, name, calls]) => [`redis ${name}`, Number(calls)] as const);
  return new Map([...ofMongod, ...ofRedis]);
}

/**
 * Counts the commands of mongod and Redis until the returned function is called.
 *
 * @returns a text with the commands of each kind for each of `count` votes, the most frequent first
 */
export async function watchCommands(deps: AppDeps): Promise<(count: number) => Promise<string>> {
  const before = await commandCounts(deps);
  return async (count) => {
    const used = [...(await commandCounts(deps))]
      .map(([name, total]) => [name, (total - (before.get(name) ?? 0)) / count] as const)
      .filter(([, each]) => each >= 0.02)
      .toSorted(([, a], [, b]) => b - a);
    return `commands: ${used.map(([name, each]) => `${name} ${each.toFixed(2)}`).join(', ')}`;
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
