import { DelayedError, type Job, type Processor } from 'bullmq';
import { z } from 'zod';
import { DELIVERY_QUEUES } from '../src/listeners/delivery-queues.ts';
import { AppError } from '../src/platform/app-error.ts';
import { SECOND } from '../src/platform/clock.ts';
import { delayJob } from '../src/platform/delayed-jobs.ts';
import { DayError } from '../src/platform/periods/period-marks.ts';
import { type Payload, QUEUES, type QueueName } from '../src/platform/queues.ts';
import { UnsealError } from '../src/platform/secrets.ts';
import { isTransientError } from '../src/platform/transient-errors.ts';
import type { AppDeps } from '../src/process/app-deps.ts';

const RETRY_MS = 10 * SECOND;

/**
 * Queues to which the sweep adds jobs within seconds. After a transient error their jobs end instead of being delayed:
 * while a job is delayed, every later job of the same listener is merged into it and would wait too. Only the jobs of
 * unreachable and limited listeners are delayed.
 */
const WOKEN_BY_SWEEP: ReadonlySet<QueueName> = new Set(DELIVERY_QUEUES);

/** An error that an operator must resolve. The message says what to do. */
class JobError extends AppError {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    if (cause instanceof Error && cause.stack) this.stack = `${message}\n${cause.stack}`;
  }
}

/**
 * A job fails only because of errors that an operator must resolve. After a transient error it is retried later. If the
 * worker stops during a job, another worker gets it.
 */
export function withJobErrors(
  { producer, log }: Pick<AppDeps, 'producer' | 'log'>,
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
      if (!isTransientError(error)) throw new JobError(messageFor(error), error);
      log.warn({ event: 'job.postponed', ...noted });
      if (WOKEN_BY_SWEEP.has(name)) return { postponed: true };
      return delayJob(job, token, new Date(Date.now() + RETRY_MS));
    }
  };
}

function subjectOf(job: Job, name: QueueName): string {
  return job.name.slice(`${QUEUES[name].title}: `.length);
}

/** What happened and what to do: a text for the operator who sees the failed job in Bull Board. */
function messageFor(error: unknown): string {
  const message = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
  if (error instanceof z.ZodError)
    return 'This job was not made by Tallyport: its payload has another format. Remove it; the work itself is in MongoDB.';
  if (error instanceof UnsealError)
    return `${message}. Restart the workers with the right keys, or have the owner set the listener again; its votes wait.`;
  if (error instanceof DayError)
    return `${message}. Remove this job; the scheduler makes one for each day that is due.`;
  if (error instanceof Error && error.name.startsWith('Mongo'))
    return `MongoDB refused an operation: ${message}. Check its log and the permissions of its user; the work is retried automatically.`;
  return `An error in Tallyport itself: ${message}. Report it with the stack trace below; the work is retried automatically.`;
}
