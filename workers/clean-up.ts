import type { Processor } from 'bullmq';
import { forgetAttempts } from '../src/delivery/forget-attempts.ts';
import { dueDays, markDone } from '../src/periods/period-marks.ts';
import type { Platform } from '../src/platform.ts';
import { type Payload, QUEUES } from '../src/queues.ts';

/**
 * Forgets what has been kept long enough on the day that a job names, and marks the day as done. Days before it
 * that are still due come first: catching up begins after the newest mark, so a mark must never be newer than a
 * day whose own job has failed.
 */
export function cleanUp(platform: Platform): Processor<Payload<'clean-up'>> {
  return async (job) => {
    const { day } = QUEUES['clean-up'].payload.parse(job.data);
    const earlier = (await dueDays(platform, 'clean-up')).filter((due) => due < day);
    let forgotten = 0;
    for (const each of [...earlier, day]) {
      forgotten += await forgetAttempts(platform, each);
      await markDone(platform, 'clean-up', each);
    }
    platform.log.info({ event: 'clean_up.done', day, forgotten });
    return { forgotten };
  };
}
