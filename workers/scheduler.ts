import { setTimeout as pause } from 'node:timers/promises';
import { schedule } from 'node-cron';
import { SECOND } from '../src/clock.ts';
import { dueDays } from '../src/periods/period-marks.ts';
import type { Platform } from '../src/platform.ts';
import { runProcess } from '../src/process.ts';

/** At the start Redis is mostly not connected yet, and the next round is far away. */
const AGAIN_MS = SECOND;

/**
 * Enqueues a clean-up for every day that has none yet; the marks in MongoDB say which.
 *
 * @returns whether Redis took them all
 */
async function enqueueCleanUps({ log, producer, ...marks }: Platform): Promise<boolean> {
  const days = await dueDays(marks, 'clean-up');
  const taken = await Promise.all(days.map((day) => producer.add('clean-up', { day })));
  if (!taken.every(Boolean)) return false;
  if (days.length > 0) log.info({ event: 'schedule.enqueued', work: 'clean-up', days });
  return true;
}

await runProcess('scheduler', async (platform, { stopping }) => {
  const run = async () => {
    while (!stopping.aborted) {
      try {
        if (await enqueueCleanUps(platform)) return;
      } catch (error) {
        platform.log.warn({ event: 'schedule.failed', work: 'clean-up', reason: String(error) });
      }
      await pause(AGAIN_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
  };
  const task = schedule('*/10 * * * *', run, { timezone: 'UTC', noOverlap: true, name: 'clean-up' });
  const first = run();
  return {
    async close() {
      await task.destroy();
      await first;
    },
  };
});
