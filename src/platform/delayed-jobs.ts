import { DelayedError, type Job } from 'bullmq';
import { z } from 'zod';

/** The part of a delayed job's progress that says when the job is due. */
const dueSchema = z.object({ dueAt: z.iso.datetime() });

/**
 * Delays the running job until `dueAt`. Its progress has the time as well, because BullMQ loses it when the job waits
 * again.
 *
 * @param progress - the job's new progress; the present one by default
 * @throws {DelayedError} always: BullMQ's sign that the job was delayed
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

/** Since when a waiting or delayed job could run, in milliseconds since 1970; in the future for a job that is not due. */
export function dueTimeOf({ timestamp, processedOn = 0, delay, progress }: Job): number {
  const { data } = dueSchema.safeParse(progress);
  // `timestamp` is the time of the first add, `processedOn` the start of the last run.
  return Math.max(data ? Date.parse(data.dueAt) : 0, Math.max(timestamp, processedOn) + delay);
}
