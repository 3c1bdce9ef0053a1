import { setTimeout as pause } from 'node:timers/promises';
import { schedule } from 'node-cron';
import { SECOND } from '../src/clock.ts';
import { dueDays } from '../src/periods/period-marks.ts';
import type { Platform } from '../src/platform.ts';
import { runProcess } from '../src/process.ts';
import { claimProbes } from './claim-probes.ts';
import { enqueueExclusions, enqueueRanking, enqueueRepairs } from './enqueue-counting.ts';

/** Work that comes round: the scheduler only enqueues it, a worker does it. */
type Periodic = {
  /** In log lines. */
  name: string;
  /** In UTC. Every one is also tried at the start, so that what was missed is done at once. */
  cron: string;
  /**
   * Looks in MongoDB for what is due and enqueues it. Two schedulers, or one that was restarted, may do it twice.
   *
   * @returns whether Redis took all of it; it is tried again a second later otherwise
   */
  enqueue(platform: Platform): Promise<boolean>;
};

const PERIODIC: Periodic[] = [
  { name: 'clean-up', cron: '*/10 * * * *', enqueue: enqueueCleanUps },
  { name: 'repair-counters', cron: '*/10 * * * *', enqueue: enqueueRepairs },
  { name: 'recompute-ranks', cron: '*/10 * * * *', enqueue: enqueueRanking },
  { name: 'exclude-votes', cron: '*/10 * * * *', enqueue: enqueueExclusions },
];

/** At the start Redis is mostly not connected yet, and the next round is far away. */
const AGAIN_MS = SECOND;

/** A clean-up for every day that has none yet; the marks in MongoDB say which. */
async function enqueueCleanUps({ log, producer, ...marks }: Platform): Promise<boolean> {
  const days = await dueDays(marks, 'clean-up');
  const jobs = days.map((day) => ({ payload: { day }, subject: day }));
  if ((await producer.addAll('clean-up', jobs)) < jobs.length) return false;
  if (days.length > 0) log.info({ event: 'schedule.enqueued', work: 'clean-up', days });
  return true;
}

/** One round, tried until Redis and MongoDB have taken it. */
async function runRound(platform: Platform, periodic: Periodic, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    try {
      if (await periodic.enqueue(platform)) return;
    } catch (error) {
      platform.log.warn({ event: 'schedule.failed', work: periodic.name, reason: String(error) });
    }
    await pause(AGAIN_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}

await runProcess('scheduler', async (platform, { stopping }) => {
  const claiming = claimProbes(platform, stopping);
  const running = PERIODIC.map((periodic) => {
    let round: Promise<void> | undefined;
    /** A round that still waits for Redis is not joined by another one. */
    const run = () => {
      round ??= runRound(platform, periodic, stopping).finally(() => {
        round = undefined;
      });
      return round;
    };
    const task = schedule(periodic.cron, run, { timezone: 'UTC', noOverlap: true, name: periodic.name });
    void run();
    return { task, ended: () => round };
  });
  return {
    async close() {
      await Promise.all(running.map(({ task }) => task.destroy()));
      await Promise.all([claiming, ...running.map(({ ended }) => ended())]);
    },
  };
});
