import type { JobType } from 'bullmq';
import {
  COUNTED_AT_MOST,
  countOpenVotes,
  type QueueCounts,
  readQueueCounts,
} from '../delivery/count-votes.ts';
import { DUE_SENDS } from '../events/event.ts';
import { cachedFor } from '../platform/batching/cached-for.ts';
import { SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
import { dueTimeOf } from '../platform/delayed-jobs.ts';
import { QUEUE_NAMES, type QueueName } from '../platform/queues.ts';
import { NOT_PAUSED } from '../servers/listing-pause.ts';
import type { AppDeps } from './app-deps.ts';
import { unavailableQueues } from './redis-queues.ts';

/** A value is absent if it could not be counted. */
export type WaitingWork = {
  queues: Partial<Record<QueueName, { waiting: number; oldestSeconds: number }>>;
  /** Votes that are waiting or being sent, by the state of their listener; each count is at most `COUNTED_AT_MOST`. */
  openVotes: Partial<QueueCounts['open']>;
  /** Waiting votes by the state of their listener and their age; each count is at most `COUNTED_AT_MOST`. */
  waitingVotes: Partial<QueueCounts['waiting']>;
  listeners: Partial<QueueCounts['listeners']>;
  jobs: { queue: QueueName; state: (typeof JOB_STATES)[number]; count: number }[];
  /** At most `COUNTED_AT_MOST`. */
  waitingEvents: number | undefined;
  /** How long the server that waits longest has been due for a probe. */
  probeLatenessSeconds: number | undefined;
  mongodbUp: boolean;
  redisUp: boolean;
};

export const JOB_STATES = [
  'active',
  'completed',
  'delayed',
  'failed',
  'prioritized',
  'waiting',
  'waiting-children',
] as const satisfies JobType[];

const TIMEOUT_MS = 2 * SECOND;
const FRESH_MS = 10 * SECOND;

/** Cached for ten seconds; never throws. */
export function createWaitingWork(deps: AppDeps): () => Promise<WaitingWork> {
  return cachedFor(FRESH_MS, () => countWaitingWork(deps));
}

async function countWaitingWork(deps: AppDeps): Promise<WaitingWork> {
  const [{ queues, ...services }, votes, waitingEvents, probeLatenessSeconds] = await Promise.all([
    readServices(deps),
    orUndefined(deps, 'votes', readQueueCounts(deps, TIMEOUT_MS)),
    orUndefined(deps, 'events', countEvents(deps)),
    orUndefined(deps, 'due probes', probeLateness(deps)),
  ]);
  return {
    ...services,
    queues: { ...queues, ...(votes ? { 'forward-votes': votes.due } : {}) },
    openVotes: votes?.open ?? {},
    waitingVotes: votes?.waiting ?? {},
    listeners: votes?.listeners ?? {},
    waitingEvents,
    probeLatenessSeconds,
  };
}

export type Services = Pick<WaitingWork, 'queues' | 'jobs' | 'mongodbUp' | 'redisUp'>;

/** Cached for ten seconds; never throws. Without the counts that read all listeners. */
export function createServices(deps: AppDeps): () => Promise<Services> {
  return cachedFor(FRESH_MS, () => readServices(deps));
}

async function readServices(deps: AppDeps): Promise<Services> {
  const [pong, { redisUp, jobs }] = await Promise.all([
    orUndefined(deps, 'mongodb', deps.mongo.db.command({ ping: 1 })),
    countJobsIfRedisAnswers(deps),
  ]);
  return { queues: jobs?.queues ?? {}, jobs: jobs?.counts ?? [], mongodbUp: pong !== undefined, redisUp };
}

/** Cached for ten seconds; empty if MongoDB does not answer in time. */
export function createOpenVotes(deps: AppDeps): () => Promise<WaitingWork['openVotes']> {
  return cachedFor(
    FRESH_MS,
    async () => (await orUndefined(deps, 'votes', countOpenVotes(deps, TIMEOUT_MS))) ?? {},
  );
}

async function orUndefined<T>({ log }: AppDeps, what: string, counting: Promise<T>): Promise<T | undefined> {
  try {
    return await within(TIMEOUT_MS, counting);
  } catch (error) {
    log.debug({ event: 'metrics.not_counted', what, reason: String(error) });
    return undefined;
  }
}

/** Each once, whoever still has to get it. */
function countEvents({ events }: AppDeps): Promise<number> {
  return events.countDocuments(
    { 'sends.to': { $type: 'objectId' } },
    { hint: DUE_SENDS, limit: COUNTED_AT_MOST, maxTimeMS: TIMEOUT_MS },
  );
}

async function probeLateness({ config, servers, clock }: AppDeps): Promise<number> {
  if (config.PROBES === 'off') return 0;
  const first = await servers.findOne(
    { removedAt: null, game: { $type: 'string' }, ...NOT_PAUSED },
    { sort: { 'probe.nextAt': 1 }, projection: { 'probe.nextAt': 1 }, maxTimeMS: TIMEOUT_MS },
  );
  return first ? Math.max(0, clock.now().getTime() - first.probe.nextAt.getTime()) / SECOND : 0;
}

/** Counts jobs only if Redis answers: otherwise the commands of each scrape would pile up until Redis is back. */
async function countJobsIfRedisAnswers(deps: AppDeps) {
  const redisUp = (await unavailableQueues(deps, TIMEOUT_MS)).length === 0;
  return { redisUp, jobs: redisUp ? await orUndefined(deps, 'jobs', countJobs(deps)) : undefined };
}

/**
 * How many jobs of each state are examined to find the oldest one. The first job need not be the oldest: a new one may be
 * put in front (`NewJob.first`), and a delayed job that is due is put behind newer ones.
 */
const NEXT_JOBS = 25;

/** A delayed job that is due counts as waiting for a worker. */
async function countJobs({ queues, clock }: AppDeps) {
  const now = clock.now().getTime();
  const counted = await Promise.all(
    QUEUE_NAMES.map(async (name) => {
      const [counts, due, waiting, delayed] = await Promise.all([
        queues[name].getJobCounts(...JOB_STATES),
        queues[name].getDelayedCount(now),
        queues[name].getJobs(['waiting', 'prioritized'], 0, NEXT_JOBS - 1, true),
        queues[name].getJobs(['delayed'], 0, 0, true),
      ]);
      const since = Math.min(now, ...[...waiting, ...delayed].map(dueTimeOf));
      return { name, counts, due, since };
    }),
  );
  return {
    counts: counted.flatMap(({ name, counts }) =>
      JOB_STATES.map((state) => ({ queue: name, state, count: counts[state] ?? 0 })),
    ),
    queues: Object.fromEntries(
      counted.map(({ name, counts, due, since }) => [
        name,
        {
          waiting: (counts.waiting ?? 0) + (counts.prioritized ?? 0) + due,
          oldestSeconds: (now - since) / SECOND,
        },
      ]),
    ) as WaitingWork['queues'],
  };
}
