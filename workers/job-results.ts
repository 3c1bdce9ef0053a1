import { DelayedError, type Job, type Processor } from 'bullmq';
import { z } from 'zod';
import { DayNotOverError, DayTooOldError } from '../src/history/aggregate-day.ts';
import { DELIVERY_QUEUES } from '../src/listeners/delivery-queues.ts';
import { SECOND } from '../src/platform/clock.ts';
import { type Payload, QUEUES, type QueueName } from '../src/platform/queues.ts';
import { UnsealError } from '../src/platform/secrets.ts';
import { isTransientError } from '../src/platform/transient-errors.ts';
import type { Platform } from '../src/process/platform.ts';
import { DayNotSettledError } from '../src/votes/repair-counters.ts';

/** Work that a passing fault cut short is tried again after this long. */
const AGAIN_MS = 10 * SECOND;

/**
 * The relay wakes these within seconds. They are not delayed here: a delayed job absorbs every wake-up, so only the
 * jobs of unreachable and limited listeners are delayed.
 */
const WOKEN_BY_RELAY: ReadonlySet<QueueName> = new Set(DELIVERY_QUEUES);

/** A fault that needs a user, in words that say what to do. */
class JobFault extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'JobFault';
    if (cause instanceof Error && cause.stack) this.stack = `${message}\n${cause.stack}`;
  }
}

/**
 * `process`, whose jobs fail only for what needs a user. What passes by itself (see `isTransientError`) is tried
 * again a little later, and what our own stop cuts short is handed to another worker; neither leaves a failed job.
 *
 * @param stop - aborted when this worker stops
 */
export function failingForOperatorsOnly(
  { producer, log }: Pick<Platform, 'producer' | 'log'>,
  name: QueueName,
  process: Processor,
  stop: AbortSignal,
): Processor {
  return async (job, token, signal) => {
    try {
      return await process(job, token, signal);
    } catch (error) {
      if (error instanceof DelayedError) throw error;
      const noted = { queue: name, jobId: job.id, payload: job.data, reason: String(error) };
      if (stop.aborted) {
        log.info({ event: 'job.stopped', ...noted });
        await producer.add(name, job.data as Payload<typeof name>, { subject: subjectOf(job, name) });
        return { stopped: true };
      }
      if (!isTransientError(error)) throw new JobFault(wordsFor(error), error);
      log.warn({ event: 'job.postponed', ...noted });
      if (WOKEN_BY_RELAY.has(name)) return { postponed: true };
      await job.moveToDelayed(Date.now() + AGAIN_MS, token);
      throw new DelayedError();
    }
  };
}

/** What stands behind the queue's title in a job's name. */
function subjectOf(job: Job, name: QueueName): string {
  return job.name.slice(`${QUEUES[name].title}: `.length);
}

/** What happened and what to do about it, for the operator who finds the job in Bull Board. */
function wordsFor(error: unknown): string {
  const said = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
  if (error instanceof z.ZodError)
    return 'This job was not made by Tallyport: its payload is of another form. Remove it; the work itself is in MongoDB.';
  if (error instanceof UnsealError)
    return `${said}. Restart the workers with the right keys, or have the owner set the listener again; its votes wait.`;
  if (
    error instanceof DayTooOldError ||
    error instanceof DayNotOverError ||
    error instanceof DayNotSettledError
  )
    return `${said}. Remove this job; the scheduler makes one for each day that is due.`;
  if (error instanceof Error && error.name.startsWith('Mongo'))
    return `MongoDB refused an operation: ${said}. Look into its log and its user's rights; the work is tried again by itself.`;
  return `A fault of Tallyport itself: ${said}. Report it with the stack trace below; the work is tried again by itself.`;
}
