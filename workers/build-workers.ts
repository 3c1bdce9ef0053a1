import { setTimeout as pause } from 'node:timers/promises';
import { type Processor, Worker } from 'bullmq';
import { sweepDueWork } from '../src/delivery/sweep.ts';
import { DELIVERY_QUEUES, isDeliveryQueue } from '../src/listeners/delivery-queues.ts';
import { SECOND } from '../src/platform/clock.ts';
import { within } from '../src/platform/deadline.ts';
import { delayJob } from '../src/platform/delayed-jobs.ts';
import { ConfigError } from '../src/platform/environment.ts';
import { LONG_OPERATION_TIMEOUT_MS } from '../src/platform/mongo.ts';
import { createPictureProcess } from '../src/platform/pictures/picture-process.ts';
import { QUEUE_NAMES, QUEUES, type QueueName, queuePrefix } from '../src/platform/queues.ts';
import { openRedis } from '../src/platform/redis.ts';
import type { OpenOptions } from '../src/platform/resources.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import type { Metrics } from '../src/process/metrics.ts';
import type { Work } from '../src/process/process.ts';
import { createDelivery } from './forward-votes.ts';
import { withJobErrors } from './job-errors.ts';
import { withoutMongodb } from './mongodb-watch.ts';
import type { QueueWork, WorkContext } from './queue-work.ts';
import { traceJobs } from './traces.ts';
import { WORKS } from './works.ts';

/** An operation on many votes may take longer than one of an API request. */
export const WORKER_OPTIONS: OpenOptions = { mongoOperationMs: LONG_OPERATION_TIMEOUT_MS };

/** During a shutdown, attempts that have written their vote wait at most this long for the answer (design rule 12). */
const LAST_ANSWERS_MS = 10 * SECOND;
/** How long a shutdown waits until the workers are closed. While Redis is unavailable, they never close. */
const CLOSE_TIMEOUT_MS = 3 * SECOND;
/** The wait after an error of Redis. BullMQ's default of 15 s would delay every listener. */
const RETRY_MS = SECOND;

/**
 * Checks the payload first, because anybody with access to Redis can add a job.
 *
 * @throws {ConfigError} when `CANARY_ADDRESSES` has an unknown game
 */
function processorOf(name: QueueName, context: WorkContext): Processor {
  const run = (WORKS[name] as QueueWork<QueueName>).processor(context);
  return async (job, token) =>
    run(QUEUES[name].payload.parse(job.data), {
      id: job.id,
      wasStalled: job.stalledCounter > 0,
      showProgress: (progress) => void job.updateProgress(progress).catch(() => undefined),
      delayUntil: (dueAt, progress) => delayJob(job, token, dueAt, progress),
    });
}

/**
 * An empty list means all queues. `forward-votes` means all delivery queues. A queue with a concurrency of 0 is left
 * out.
 */
function queuesNamed(names: string[], config: AppDeps['config']): QueueName[] {
  const unknown = names.filter((name) => !QUEUE_NAMES.some((queue) => queue === name));
  if (unknown.length > 0) {
    throw new ConfigError([
      `“${unknown.join(', ')}” is not a queue. The queues are ${QUEUE_NAMES.join(', ')}`,
    ]);
  }
  const wanted = new Set<string>(names.length === 0 ? QUEUE_NAMES : names);
  if (wanted.has('forward-votes')) for (const queue of DELIVERY_QUEUES) wanted.add(queue);
  return QUEUE_NAMES.filter((queue) => wanted.has(queue) && concurrencyOf(config, queue) > 0);
}

function concurrencyOf(config: AppDeps['config'], name: QueueName): number {
  const { concurrency = 1 } = WORKS[name];
  return typeof concurrency === 'number' ? concurrency : config[concurrency];
}

/**
 * Starts the sweep too if one of the queues is a delivery queue; no names mean all queues. `close()` stops all as in
 * design rule 12, within about 13 s; `deps` stays open.
 *
 * @throws {ConfigError} when there is no queue with a name, or `CANARY_ADDRESSES` has an unknown game
 */
export function buildWorkers(
  deps: AppDeps,
  { metrics, queues: names = [] }: { metrics: Metrics; queues?: string[] },
): Work {
  const { config, log } = deps;
  const queues = queuesNamed(names, config);
  const stop = new AbortController();
  const waitNoLonger = new AbortController();
  const pictureProcess = createPictureProcess(log);
  const signals = { stop: stop.signal, waitNoLonger: waitNoLonger.signal };
  const delivery = createDelivery(deps, metrics, signals);
  const context = { deps, metrics, ...signals, pictureProcess, delivery };
  const processors = Object.fromEntries(
    QUEUE_NAMES.map((name) => [name, processorOf(name, context)]),
  ) as Record<QueueName, Processor>;
  const underWay = new Set<Promise<unknown>>();
  const connection = openRedis(config.REDIS_URL, log);

  const mongodb = withoutMongodb(deps, () => workers, underWay);

  function start(name: QueueName): Worker {
    const own = isDeliveryQueue(name) ? mongodb.givingUp(processors[name]) : processors[name];
    const resolved = withJobErrors(deps, name, own, stop.signal);
    const processor = traceJobs(deps.tracing, name, resolved);
    const tracked: Processor = (...job) => {
      const run = processor(...job).finally(() => underWay.delete(run));
      underWay.add(run);
      return run;
    };
    const { limiter, lockMs: ownLockMs = Number.POSITIVE_INFINITY } = WORKS[name];
    const lockMs = Math.min(ownLockMs, config.LEASE_MS / 2);
    const worker = new Worker(name, tracked, {
      connection,
      prefix: queuePrefix(config, name),
      concurrency: concurrencyOf(config, name),
      ...(limiter ? { limiter: { max: limiter.most, duration: limiter.inMs } } : {}),
      // If a worker is killed, another one takes over its jobs after this time. The leases in MongoDB expire later.
      lockDuration: lockMs,
      stalledInterval: lockMs / 2,
      runRetryDelay: RETRY_MS,
      // A stalled job is always run again, because the work itself is in MongoDB.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
    });
    worker.on('error', (error) => log.debug({ event: 'worker.error', queue: name, reason: error.message }));
    worker.on('failed', (job, error) =>
      log.error({
        event: 'job.failed',
        queue: name,
        jobId: job?.id,
        payload: job?.data,
        reason: error.message,
      }),
    );
    return worker;
  }

  const workers = queues.map(start);
  const sweeping = queues.some(isDeliveryQueue) && runSweep(deps, stop.signal);

  return {
    async close() {
      stop.abort();
      mongodb.close();
      const closing = workers.map((worker) => worker.close());
      const keptLeases = delivery.keptLeases.close();
      underWay.add(keptLeases);
      const closed = Promise.all([...closing, sweeping, keptLeases]);
      await within(LAST_ANSWERS_MS, Promise.allSettled(underWay)).catch(() => waitNoLonger.abort());
      pictureProcess.close();
      await within(CLOSE_TIMEOUT_MS, closed).catch(() => undefined);
      connection.disconnect();
    },
  };
}

/** Intervals vary randomly by a fifth, so that many workers do not query MongoDB at the same moment. */
const JITTER = 0.2;

/** Design rule 2. If a sweep fails, the next one still follows. */
async function runSweep(deps: AppDeps, stopping: AbortSignal): Promise<void> {
  const { log, config } = deps;
  while (!stopping.aborted) {
    try {
      const { woken, expired, removed } = await sweepDueWork(deps);
      if (woken + expired + removed > 0)
        log.info({ event: 'relay.round', woken, expired, released: removed });
    } catch (error) {
      log.warn({ event: 'relay.failed', reason: String(error) });
    }
    const wait = config.RELAY_INTERVAL_MS * (1 - JITTER + 2 * JITTER * Math.random());
    await pause(wait, undefined, { signal: stopping }).catch(() => undefined);
  }
}
