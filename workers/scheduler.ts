import { schedule } from 'node-cron';
import { dueDays } from '../src/periods/period-marks.ts';
import type { Platform } from '../src/platform.ts';
import { runProcess } from '../src/process.ts';

/** Enqueues a clean-up for every day that has none yet; the marks in MongoDB say which. */
async function enqueueCleanUps(platform: Platform): Promise<void> {
  for (const day of await dueDays(platform, 'clean-up')) await platform.producer.add('clean-up', { day });
}

await runProcess('scheduler', async (platform) => {
  const run = async () => {
    try {
      await enqueueCleanUps(platform);
    } catch (error) {
      platform.log.warn({ event: 'schedule.failed', work: 'clean-up', reason: String(error) });
    }
  };
  const task = schedule('*/10 * * * *', run, { timezone: 'UTC', noOverlap: true, name: 'clean-up' });
  await run();
  return {
    async close() {
      await task.destroy();
    },
  };
});
