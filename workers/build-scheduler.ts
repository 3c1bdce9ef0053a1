import { setTimeout as pause } from 'node:timers/promises';
import { schedule } from 'node-cron';
import { SECOND } from '../src/platform/clock.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import type { Work } from '../src/process/process.ts';
import { PERIODIC_WORK, type PeriodicWork } from './periodic-work.ts';
import { takeProbes } from './take-probes.ts';

/**
 * The delay before periodic work is retried. When the process starts, Redis is often not connected yet, and the next
 * time by the cron expression may be an hour away.
 */
const RETRY_MS = SECOND;

/** Adds the jobs of one kind of periodic work that are due now. Retries until Redis has accepted all of them. */
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
 * second. Stops when `stopping` is aborted; `close()` waits for what is still running.
 */
export function buildScheduler(deps: AppDeps, { stopping }: { stopping: AbortSignal }): Work {
  const taking = takeProbes(deps, stopping);
  const running = PERIODIC_WORK.map((work) => {
    let round: Promise<void> | undefined;
    /** Calls `runRound`, unless an earlier call is still waiting for Redis. */
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
