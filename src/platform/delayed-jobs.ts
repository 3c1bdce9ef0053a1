import { DelayedError, type Job } from 'bullmq';
import { z } from 'zod';

const dueSchema = z.object({ dueAt: z.iso.datetime() });

/**
 * Always throws the error that tells BullMQ of the delay. The time is also stored in the job's progress, because BullMQ
 * loses it when the job is waiting again.
 */
export async function delayJob(
  job: Job,
  token: string | undefined,
  dueAt: Date,
  progress: Job['progress'] = job.progress,
): Promise<never> {
  const shown = typeof progress === 'object' ? progress : {};
  await job.updateProgress({ ...shown, dueAt: dueAt.toISOString() });
  await job.moveToDelayed(dueAt.getTime(), token);
  throw new DelayedError();
}

/** The time from which a waiting or delayed job may run, in milliseconds since 1970. */
export function dueTimeOf({ timestamp, processedOn = 0, delay, progress }: Job): number {
  const { data } = dueSchema.safeParse(progress);
  // `timestamp` is when the job was first added, `processedOn` is when its last run began.
  return Math.max(data ? Date.parse(data.dueAt) : 0, Math.max(timestamp, processedOn) + delay);
}
