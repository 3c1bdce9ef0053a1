import type { DeliveryQueue } from '../src/listeners/delivery-queues.ts';
import type { Config } from '../src/platform/config.ts';
import type { PictureProcess } from '../src/platform/pictures/picture-process.ts';
import type { Payload, QueueName } from '../src/platform/queues.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import type { Metrics } from '../src/process/metrics.ts';

/** What the work of a queue is: how its jobs run in a worker, and when the scheduler adds jobs. */
export type QueueWork<Name extends QueueName> = {
  /** Called once in each process. The result of a job is what Bull Board shows. Any job may run twice. */
  processor(context: WorkContext): (payload: Payload<Name>, job: RunningJob) => Promise<unknown>;
  /** How many jobs run at once in a process, or the setting that says so; 1 by default. 0: none in this process. */
  concurrency?: number | Extract<keyof Config, `${string}_CONCURRENCY`>;
  /** The limit of all workers together. */
  limiter?: { most: number; inMs: number };
  /** How long a job's lock lasts, if that is less than half of `LEASE_MS`, which is the default. */
  lockMs?: number;
  /** Absent: the scheduler adds no jobs of this queue at fixed times. */
  period?: Period<Name>;
};

export type WorkContext = StopSignals & {
  deps: AppDeps;
  metrics: Metrics;
  pictureProcess: PictureProcess;
  delivery: {
    run(queue: DeliveryQueue, payload: Payload<DeliveryQueue>, job: RunningJob): Promise<unknown>;
  };
};

/**
 * The signals of a shutdown. `stop` is aborted when it begins, `waitNoLonger` 10 s later, for what still waits for an
 * answer.
 */
export type StopSignals = { stop: AbortSignal; waitNoLonger: AbortSignal };

export type RunningJob = {
  id: string | undefined;
  /** Whether the worker that began with the job has died. */
  wasStalled: boolean;
  /** Shows the progress in Bull Board. If Redis fails, the job goes on, and only its progress is not shown. */
  showProgress(progress: number | object): void;
  /** Delays the job and ends this run: it always throws. By default the job keeps its progress. */
  delayUntil(dueAt: Date, progress?: object): Promise<never>;
};

/** How often the scheduler adds jobs, in cron's notation (UTC). At the full hour, other programs begin their work too. */
export const CRON = {
  '10 seconds': '*/10 * * * * *',
  minute: '* * * * *',
  '10 minutes': '*/10 * * * *',
  'hour, at minute 7': '7 * * * *',
};

/** When the scheduler adds jobs: at its start, so that missed work is done at once, and then at these times. */
type Period<Name extends QueueName> = { every: keyof typeof CRON } & DueJobs<Name>;

/** If jobs have no payload, one job is added. If runs were missed, it does all of their work. */
type DueJobs<Name extends QueueName> = Name extends QueueName
  ? Record<never, never> extends Payload<Name>
    ? { due?: never }
    : {
        /** Finds due work in MongoDB, one payload a job. Two schedulers, or a restarted one, may add the same job twice. */
        due(deps: AppDeps): Promise<Payload<Name>[]>;
      }
  : never;
