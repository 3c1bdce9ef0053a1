import { setTimeout as pause } from 'node:timers/promises';
import { schedule } from 'node-cron';
import { SECOND } from '../src/platform/clock.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import type { Work } from '../src/process/process.ts';
import { PERIODIC_WORK, type PeriodicWork } from './periodic-work.ts';
import { takeProbes } from './take-probes.ts';

/**
 * The delay before a round is retried. At the start of the process Redis is often not connected yet, and the next round
 * by cron may be far away.
 */
const RETRY_MS = SECOND;

/** Runs one round of periodic work, with retries until Redis and MongoDB have accepted it. */
async function runRound(deps: AppDeps, work: PeriodicWork, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    try {
      if (await work.enqueue(deps)) return;
    } catch (error) {
      deps.log.warn({ event: 'schedule.failed', work: work.name, reason: String(error) });
    }
    await pause(RETRY_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}

/**
 * Starts the periodic work (each kind once at the start, then by its cron expression) and takes due probes every
 * second. Stops when `stopping` is aborted; `close()` waits for the running rounds.
 */
export function buildScheduler(deps: AppDeps, { stopping }: { stopping: AbortSignal }): Work {
  const taking = takeProbes(deps, stopping);
  const running = PERIODIC_WORK.map((work) => {
    let round: Promise<void> | undefined;
    /** If a round is still waiting for Redis, no second one is started. */
    const run = () => {
      round ??= runRound(deps, work, stopping).finally(() => {
        round = undefined;
      });
      return round;
    };
    const logger = deps.log.child({ event: 'schedule.cron', work: work.name });
    const task = schedule(work.cron, run, { timezone: 'UTC', name: work.name, logger });
    void run();
    return { task, ended: () => round };
  });
  return {
    async close() {
      await Promise.all(running.map(({ task }) => task.destroy()));
      await Promise.all([taking, ...running.map(({ ended }) => ended())]);
    },
  };
}
