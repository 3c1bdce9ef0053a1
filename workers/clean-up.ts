import type { Processor } from 'bullmq';
import { forgetAttempts } from '../src/delivery/forget-attempts.ts';
import { markDone } from '../src/platform/periods/period-marks.ts';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import type { Platform } from '../src/process/platform.ts';
import { sweepPictures } from '../src/servers/pictures.ts';

/** Deletes data past its retention time on the day of a job, and marks the day as done. */
export function cleanUp(platform: Platform): Processor<Payload<'clean-up'>> {
  return async (job) => {
    const { day } = QUEUES['clean-up'].payload.parse(job.data);
    const forgotten = await forgetAttempts(platform, day);
    const pictures = await sweepPictures(platform);
    await markDone(platform, 'clean-up', day);
    platform.log.info({ event: 'clean_up.done', day, forgotten, pictures });
    return { forgotten, pictures };
  };
}
