import { type Processor, type RateLimiterOptions, Worker } from 'bullmq';
import { DELIVERY_QUEUES, type DeliveryQueue, isDeliveryQueue } from '../src/listeners/delivery-queues.ts';
import { SECOND } from '../src/platform/clock.ts';
import { within } from '../src/platform/deadline.ts';
import { ConfigError } from '../src/platform/environment.ts';
import { LONG_OPERATION_TIMEOUT_MS } from '../src/platform/mongo.ts';
import { createPictureProcess, type PictureProcess } from '../src/platform/pictures/picture-process.ts';
import { QUEUE_NAMES, type QueueName, queuePrefix } from '../src/platform/queues.ts';
import { openRedis } from '../src/platform/redis.ts';
import type { OpenOptions } from '../src/platform/resources.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import type { Metrics } from '../src/process/metrics.ts';
import type { Work } from '../src/process/process.ts';
import { aggregateDays } from './aggregate-day.ts';
import { answerNowWorker } from './answer-now.ts';
import { cleanUp } from './clean-up.ts';
import { countFiguresWorker } from './count-figures.ts';
import { drawCardsWorker } from './draw-cards.ts';
import { encodePicturesWorker } from './encode-pictures.ts';
import { excludeVotesWorker } from './exclude-votes.ts';
import { findUnusualVotesWorker } from './find-unusual-votes.ts';
import { forwardVotes, type StopSignals } from './forward-votes.ts';
import { withJobErrors } from './job-errors.ts';
import { notifyOwnersWorker } from './notify-owners.ts';
import { probeServers } from './probe-servers.ts';
import { recomputeRanksWorker } from './recompute-ranks.ts';
import { repairCountersWorker, repairTodayWorker } from './repair-counters.ts';
import { type Activity, replaceStuckWorkers } from './replace-stuck-workers.ts';
import { sendDiscordWorker, sendMailWorker } from './send-mail.ts';
import { settleAccountsWorker } from './settle-accounts.ts';
import { runSweep } from './sweep.ts';
import { traceJobs } from './trace-jobs.ts';
import { withoutMongodb } from './without-mongodb.ts';

/** The options of a worker's connections. An operation on many votes may take longer than one of an API request. */
export const WORKER_OPTIONS: OpenOptions = { mongoOperationMs: LONG_OPERATION_TIMEOUT_MS };

/** During a shutdown, attempts that have written their vote wait at most this long for the answer (design rule 12). */
const LAST_ANSWERS_MS = 10 * SECOND;
/** How long a shutdown waits until the workers are closed. While Redis is unavailable, they never close. */
const CLOSE_TIMEOUT_MS = 3 * SECOND;
/**
 * How many mails, and how many Discord messages, are sent at once. With one, a slow delivery would delay all others;
 * with many, they would overload a mail server.
 */
const MAILS_AT_ONCE = 4;
/**
 * Rate limits that all workers share. If hundreds of listeners become due at the same moment, their tests would keep
 * MongoDB busy, and votes for working listeners would wait.
 */
const LIMITERS: Partial<Record<QueueName, RateLimiterOptions>> = {
  'test-listeners': { max: 3, duration: SECOND / 10 },
  // Ten previews a second use 10 % to 33 % of a processor. Anybody can cause previews, so their number is limited.
  'draw-cards': { max: 10, duration: SECOND },
};
/**
 * The longest time for which the lock of an `answer-now` job lasts. If the worker of the job is killed, the waiting
 * user gets a message after twice this time at most.
 */
const ANSWER_LOCK_MS = 10 * SECOND;
/**
 * How long a worker waits before it tries again after an error of Redis. BullMQ's default of 15 s would delay every
 * listener.
 */
const RETRY_MS = SECOND;

/** The processor of each queue. */
function processors(
  deps: AppDeps,
  metrics: Metrics,
  signals: StopSignals,
  pictureProcess: PictureProcess,
  delivery: Record<DeliveryQueue, Processor>,
): Record<QueueName, Processor> {
  return {
    ...delivery,
    'probe-servers': probeServers(deps, metrics, signals.stop),
    'clean-up': cleanUp(deps, signals.stop),
    'aggregate-day': aggregateDays(deps, signals.stop),
    'repair-counters': repairCountersWorker(deps, metrics, signals.stop),
    'repair-today': repairTodayWorker(deps, metrics, signals.stop),
    'recompute-ranks': recomputeRanksWorker(deps, signals.stop),
    'find-unusual-votes': findUnusualVotesWorker(deps, signals.stop),
    'count-figures': countFiguresWorker(deps, signals.stop),
    'exclude-votes': excludeVotesWorker(deps, signals.stop),
    'send-mail': sendMailWorker(deps, signals.waitNoLonger),
    'send-discord': sendDiscordWorker(deps, signals.waitNoLonger),
    'settle-accounts': settleAccountsWorker(deps, signals.stop),
    'tell-owners': notifyOwnersWorker(deps, signals.stop),
    'encode-pictures': encodePicturesWorker(deps, pictureProcess),
    'draw-cards': drawCardsWorker(deps, pictureProcess),
    'answer-now': answerNowWorker(deps, signals.waitNoLonger, pictureProcess),
  };
}

/**
 * The queues with these names; an empty list means all. `forward-votes` means all delivery queues. If the concurrency
 * of a queue is set to 0, the queue is left out.
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

/** How many jobs of a queue run at once in this process. Queues that are not listed run one job at a time. */
function concurrencyOf(config: AppDeps['config'], name: QueueName): number {
  switch (name) {
    case 'forward-votes':
      return config.WORKER_CONCURRENCY;
    case 'test-listeners':
      return config.TEST_CONCURRENCY;
    case 'drain-backlogs':
      return config.BACKLOG_CONCURRENCY;
    case 'probe-servers':
      return config.PROBE_CONCURRENCY;
    case 'answer-now':
      return config.ANSWER_CONCURRENCY;
    case 'send-mail':
    case 'send-discord':
      return MAILS_AT_ONCE;
    default:
      return 1;
  }
}

/**
 * Starts the workers of the named queues, and the sweep if one of them is a delivery queue. `close()` stops them as in
 * design rule 12, within about 13 s; `deps` stays open.
 *
 * @param queues - names of queues; an empty list means all queues
 * @param watchEveryMs - how often workers are compared with their queues (`replaceStuckWorkers`)
 * @throws {ConfigError} when there is no queue with a name, or `CANARY_ADDRESSES` has an unknown game
 */
export function buildWorkers(
  deps: AppDeps,
  {
    metrics,
    queues: names = [],
    watchEveryMs: everyMs,
  }: { metrics: Metrics; queues?: string[]; watchEveryMs?: number | undefined },
): Work {
  const { config, log } = deps;
  const queues = queuesNamed(names, config);
  const stop = new AbortController();
  const waitNoLonger = new AbortController();
  const pictureProcess = createPictureProcess(log);
  const signals = { stop: stop.signal, waitNoLonger: waitNoLonger.signal };
  const forwarding = forwardVotes(deps, metrics, signals);
  const process = processors(deps, metrics, signals, pictureProcess, forwarding.processors);
  const underWay = new Set<Promise<unknown>>();
  const activities = new Map<QueueName, Activity>(
    queues.map((name) => [name, { running: 0, taken: 0, concurrency: concurrencyOf(config, name) }]),
  );
  const connection = openRedis(config.REDIS_URL, log);

  const everyWorker = (change: (worker: Worker) => Promise<void>) => {
    for (const worker of workers.values()) void change(worker);
  };
  const mongodb = withoutMongodb(
    deps,
    { pause: () => everyWorker((one) => one.pause(true)), resume: () => everyWorker((one) => one.resume()) },
    underWay,
  );

  function start(name: QueueName): Worker {
    const own = isDeliveryQueue(name) ? mongodb.givingUp(process[name]) : process[name];
    const resolved = withJobErrors(deps, name, own, stop.signal);
    const processor = traceJobs(deps.tracing, name, resolved);
    const activity = activities.get(name);
    const tracked: Processor = (...job) => {
      if (activity) {
        activity.taken += 1;
        activity.running += 1;
      }
      const run = processor(...job).finally(() => {
        underWay.delete(run);
        if (activity) activity.running -= 1;
      });
      underWay.add(run);
      return run;
    };
    const lockMs =
      name === 'answer-now' ? Math.min(ANSWER_LOCK_MS, config.LEASE_MS / 2) : config.LEASE_MS / 2;
    const worker = new Worker(name, tracked, {
      connection,
      prefix: queuePrefix(config, name),
      concurrency: concurrencyOf(config, name),
      ...(LIMITERS[name] ? { limiter: LIMITERS[name] } : {}),
      // If a worker is killed, another one takes over its jobs after this time. The leases in MongoDB expire later.
      lockDuration: lockMs,
      stalledInterval: lockMs / 2,
      runRetryDelay: RETRY_MS,
      // A stalled job is always run again, because the work itself is in MongoDB.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
    });
    // If MongoDB is away when a stuck worker is replaced, the new worker must be paused too.
    if (mongodb.isAway()) void worker.pause(true);
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

  const workers = new Map(queues.map((name) => [name, start(name)]));
  const replaced: (Promise<void> | undefined)[] = [];
  const replacing = replaceStuckWorkers(
    { ...deps, isPaused: mongodb.isAway, activities, replace, everyMs },
    stop.signal,
  );

  function replace(name: QueueName): void {
    metrics.count('tallyport_workers_replaced_total', { queue: name });
    // The old worker is closed when its jobs have ended. A stuck worker may never close, so only the shutdown waits for
    // it, and for a limited time.
    replaced.push(workers.get(name)?.close());
    workers.set(name, start(name));
  }
  const delivers = queues.some(isDeliveryQueue);
  const sweeping = delivers ? runSweep(deps, stop.signal) : Promise.resolve();

  return {
    async close() {
      stop.abort();
      mongodb.close();
      const closing = [...workers.values()].map((worker) => worker.close());
      const keptLeases = forwarding.keptLeases.close();
      underWay.add(keptLeases);
      const closed = Promise.all([...closing, ...replaced, sweeping, replacing, keptLeases]);
      await within(LAST_ANSWERS_MS, Promise.allSettled(underWay)).catch(() => waitNoLonger.abort());
      pictureProcess.close();
      await within(CLOSE_TIMEOUT_MS, closed).catch(() => undefined);
      connection.disconnect();
    },
  };
}
