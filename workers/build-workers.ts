import { type Processor, type RateLimiterOptions, Worker } from 'bullmq';
import { DELIVERY_QUEUES } from '../src/listeners/delivery-queues.ts';
import { SECOND } from '../src/platform/clock.ts';
import { ConfigError } from '../src/platform/config.ts';
import { within } from '../src/platform/deadline.ts';
import { QUEUE_NAMES, type QueueName, queuePrefix } from '../src/platform/queues.ts';
import { openRedis } from '../src/platform/redis.ts';
import type { OpenOptions } from '../src/platform/resources.ts';
import type { Metrics } from '../src/process/metrics.ts';
import type { Platform } from '../src/process/platform.ts';
import type { Work } from '../src/process/process.ts';
import { aggregateDays } from './aggregate-day.ts';
import { cleanUp } from './clean-up.ts';
import { excludeVotesWorker } from './exclude-votes.ts';
import { findUnusualVotesWorker } from './find-unusual-votes.ts';
import { forwardVotes, type StopSignals } from './forward-votes.ts';
import { failingForOperatorsOnly } from './job-results.ts';
import { probeServers } from './probe-servers.ts';
import { recomputeRanksWorker } from './recompute-ranks.ts';
import { runRelay } from './relay.ts';
import { repairCountersWorker, repairTodayWorker } from './repair-counters.ts';
import { sendMailWorker } from './send-mail.ts';
import { notifyOwnersWorker } from './tell-owners.ts';

/** For opening a worker's platform: nobody waits for its operations on many votes, but they must end. */
export const WORKER_OPTIONS: OpenOptions = { mongoOperationMs: 30 * SECOND };

/** Attempts that have written wait for their answer so long after the stop began (design rule 12). */
const LAST_ANSWERS_MS = 10 * SECOND;
/** A worker whose Redis is away never closes by itself: it is left so long after its last job has ended. */
const CLOSE_TIMEOUT_MS = 3 * SECOND;
/** A slow mail server must not hold up every mail, nor be flooded. */
const MAILS_AT_ONCE = 4;
/**
 * Of all workers together. Hundreds of listeners may fall due in one moment, and a vote for one that answers would wait
 * for MongoDB behind all of them.
 */
const LIMITERS: Partial<Record<QueueName, RateLimiterOptions>> = {
  'test-listeners': { max: 3, duration: SECOND / 10 },
};
/** After Redis was away; BullMQ's own 15 s would be a pause for every listener. */
const RETRY_MS = SECOND;

/** Every queue's worker, thin. */
function processors(
  platform: Platform,
  metrics: Metrics,
  signals: StopSignals,
): Record<QueueName, Processor> {
  return {
    ...forwardVotes(platform, metrics, signals),
    'probe-servers': probeServers(platform, metrics, signals.stop),
    'clean-up': cleanUp(platform),
    'aggregate-day': aggregateDays(platform, signals.stop),
    'repair-counters': repairCountersWorker(platform, metrics, signals.stop),
    'repair-today': repairTodayWorker(platform, metrics, signals.stop),
    'recompute-ranks': recomputeRanksWorker(platform, signals.stop),
    'find-unusual-votes': findUnusualVotesWorker(platform, signals.stop),
    'exclude-votes': excludeVotesWorker(platform, signals.stop),
    'send-mail': sendMailWorker(platform, signals.waitNoLonger),
    'tell-owners': notifyOwnersWorker(platform, signals.stop),
  };
}

/** The queues with these names; all without names. `forward-votes` stands for all queues of delivery. */
function queuesNamed(names: string[], config: Platform['config']): QueueName[] {
  const unknown = names.filter((name) => !QUEUE_NAMES.some((queue) => queue === name));
  if (unknown.length > 0) {
    throw new ConfigError([`«${unknown.join(', ')}» is no queue: there are ${QUEUE_NAMES.join(', ')}`]);
  }
  const wanted = new Set<string>(names.length === 0 ? QUEUE_NAMES : names);
  if (wanted.has('forward-votes')) for (const queue of DELIVERY_QUEUES) wanted.add(queue);
  return QUEUE_NAMES.filter((queue) => wanted.has(queue) && concurrencyOf(config, queue) > 0);
}

/** How many jobs of a queue run at once in this process; periodic work goes one by one. */
function concurrencyOf(config: Platform['config'], name: QueueName): number {
  switch (name) {
    case 'forward-votes':
      return config.WORKER_CONCURRENCY;
    case 'test-listeners':
      return config.TEST_CONCURRENCY;
    case 'drain-backlogs':
      return config.BACKLOG_CONCURRENCY;
    case 'probe-servers':
      return config.PROBE_CONCURRENCY;
    case 'send-mail':
      return MAILS_AT_ONCE;
    default:
      return 1;
  }
}

/**
 * Starts the workers of the named queues, and the relay with those of delivery. `close()` stops them as design
 * rule 12 says, within some 13 s; the platform stays open.
 *
 * @param queues - names of queues; none: all queues
 * @throws {ConfigError} when a name is no queue's, or `CANARY_ADDRESSES` names an unknown game
 */
export function buildWorkers(
  platform: Platform,
  { metrics, queues: names = [] }: { metrics: Metrics; queues?: string[] },
): Work {
  const { config, log } = platform;
  const queues = queuesNamed(names, config);
  const stop = new AbortController();
  const waitNoLonger = new AbortController();
  const process = processors(platform, metrics, { stop: stop.signal, waitNoLonger: waitNoLonger.signal });
  const underWay = new Set<Promise<unknown>>();
  const noted = (processor: Processor): Processor => {
    return (...job) => {
      const run = processor(...job).finally(() => underWay.delete(run));
      underWay.add(run);
      return run;
    };
  };
  const connection = openRedis(config.REDIS_URL, log);
  const workers = queues.map((name) => {
    const processor = failingForOperatorsOnly(platform, name, process[name], stop.signal);
    const worker = new Worker(name, noted(processor), {
      connection,
      prefix: queuePrefix(config, name),
      concurrency: concurrencyOf(config, name),
      ...(LIMITERS[name] ? { limiter: LIMITERS[name] } : {}),
      // How soon the listener of a worker that was killed is taken over; its lease in MongoDB ends later.
      lockDuration: config.LEASE_MS / 2,
      stalledInterval: config.LEASE_MS / 4,
      runRetryDelay: RETRY_MS,
      // A job that was found stalled is never given up: it is only a wake-up call.
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
  });
  const delivers = DELIVERY_QUEUES.some((queue) => queues.includes(queue));
  const relay = delivers ? runRelay(platform, stop.signal) : Promise.resolve();

  return {
    async close() {
      stop.abort();
      const closed = Promise.all([...workers.map((worker) => worker.close()), relay]);
      await within(LAST_ANSWERS_MS, Promise.allSettled(underWay)).catch(() => waitNoLonger.abort());
      await within(CLOSE_TIMEOUT_MS, closed).catch(() => undefined);
      connection.disconnect();
    },
  };
}
