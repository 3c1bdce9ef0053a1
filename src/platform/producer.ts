import type { JobsOptions, Queue } from 'bullmq';
import { type BatchLoader, createBatcher } from './batching/batcher.ts';
import { SECOND } from './clock.ts';
import type { Config } from './config.ts';
import { within } from './deadline.ts';
import type { Logger } from './log.ts';
import { dueVotesChannel, type Payload, QUEUES, type QueueName } from './queues.ts';
import type { RedisConnection } from './redis.ts';
import type { Attributes, Tracing } from './tracing/tracing.ts';

/** How many finished jobs are retained for the operator, and for how long (in seconds). */
const HISTORY = {
  removeOnComplete: { count: 200, age: 24 * 3_600 },
  removeOnFail: { count: 500, age: 7 * 24 * 3_600 },
};

/** Finished jobs of `answer-now` are deleted soon, because nobody needs them later. Ages are in seconds. */
const SOON_FORGOTTEN = {
  removeOnComplete: { count: 100, age: 60 },
  removeOnFail: { count: 100, age: 24 * 3_600 },
};

/** OpenTelemetry's messaging conventions, and the ids in the payload. */
export function jobAttributes(name: QueueName, payload: object, operation: 'send' | 'process'): Attributes {
  const { serverId, listenerId } = payload as { serverId?: string; listenerId?: string };
  return {
    'messaging.system': 'bullmq',
    'messaging.destination.name': name,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    ...(serverId ? { 'tallyport.server.id': serverId } : {}),
    ...(listenerId ? { 'tallyport.listener.id': listenerId } : {}),
  };
}

export type NewJob<N extends QueueName> = {
  payload: Payload<N>;
  /** Shown after the queue's title in Bull Board: `Probe: alpha-craft`. Short and without secrets. */
  subject?: string;
  /** Puts the job before all waiting jobs. Only for a few jobs at a time: the one added last runs first. */
  first?: boolean;
  /** Puts the job behind all waiting jobs without this option, also behind those that are added later. */
  last?: boolean;
};

export type AddOptions = {
  /** Replaces a delayed job with the same key (see `QUEUES`), so that the job runs now. */
  hasten?: boolean;
} & Omit<NewJob<QueueName>, 'payload'>;

/** Never throws and returns within a limited time. */
export type Producer = {
  /**
   * Whether Redis accepted the job. `false` if Redis is unavailable or does not answer, or if too many adds are
   * running. Except for a question (`answer-now`), the work is not lost: the sweep or the scheduler finds it in
   * MongoDB.
   */
  add<N extends QueueName>(name: N, payload: Payload<N>, options?: AddOptions): Promise<boolean>;
  /**
   * Publishes that votes of a server may be due (`dueVotesChannel`), and whether its listener may have changed. Waiting
   * takes, and the worker that has the lease, then look for due votes at once. Returns as `add`.
   */
  announceDueVotes(serverId: string, options?: { isChanged?: boolean }): Promise<boolean>;
  /** How many jobs, from the beginning, Redis certainly accepted; the rest may be added again. */
  addAll<N extends QueueName>(name: N, jobs: NewJob<N>[]): Promise<number>;
  /** Waits at most a second for the running adds. */
  settle(): Promise<void>;
};

/** How many adds may wait at once. A suspended Redis keeps its connection open, so adds would pile up. */
const MOST_ADDS_UNDER_WAY = 1_000;

/** An add takes no longer, also during shutdown. */
const LONGEST_ADD_MS = SECOND;

/** The jobs of one round trip, and how long it may take. */
const BULK = 250;
const LONGEST_BULK_MS = 5 * SECOND;

type BullJob = { name: string; data: object; opts: JobsOptions };

type TracedJob = { job: BullJob; traceparent: string | undefined };

/** The job with its trace in the field of BullMQ's own telemetry, so that the worker continues the trace. */
function withTrace({ job, traceparent }: TracedJob): BullJob {
  if (!traceparent) return job;
  return { ...job, opts: { ...job.opts, telemetry: { metadata: JSON.stringify({ traceparent }) } } };
}

/** Adds that are made while one is running share a round trip. Equal jobs are merged. */
const addBatch: BatchLoader<Queue, TracedJob, true> = {
  most: BULK,
  async load(queue, added) {
    const [first] = added;
    if (first && added.length === 1) {
      const { name, data, opts } = withTrace(first);
      await queue.add(name, data, opts);
    } else {
      // Jobs are compared without their traces: the wake-ups of several votes for one listener become one job, in the
      // trace of one of these votes.
      const distinct = new Map(added.map((one) => [JSON.stringify(one.job), one]));
      await queue.addBulk([...distinct.values()].map(withTrace));
    }
    return added.map(() => true);
  },
};

/** Publishes messages in one round trip. Equal messages are published once. */
const announceBatch: BatchLoader<RedisConnection, { channel: string; message: string }, true> = {
  most: BULK,
  async load(connection, announced) {
    const [first] = announced;
    if (!first) return [];
    const pipeline = connection.pipeline();
    for (const one of new Set(announced.map(({ message }) => message))) pipeline.publish(first.channel, one);
    for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
    return announced.map(() => true);
  },
};

export function createProducer(
  config: Pick<Config, 'QUEUE_PREFIX'>,
  queues: Record<QueueName, Queue>,
  connection: RedisConnection,
  log: Logger,
  tracing: Tracing,
): Producer {
  const underWay = new Set<Promise<boolean>>();
  const batcher = createBatcher();

  const jobOf = <N extends QueueName>(
    name: N,
    { payload, subject, first = false, last = false, hasten = false }: NewJob<N> & AddOptions,
  ): BullJob => {
    const id = QUEUES[name].key(payload as never);
    const opts: JobsOptions =
      name === 'answer-now'
        ? { ...SOON_FORGOTTEN, jobId: id }
        : {
            ...HISTORY,
            ...(first ? { lifo: true } : {}),
            ...(last ? { priority: 1 } : {}),
            deduplication: { id, keepLastIfActive: true, ...(hasten ? { replace: true } : {}) },
          };
    const { title } = QUEUES[name];
    return { name: subject ? `${title}: ${subject}` : title, data: payload, opts };
  };

  /** Whether `adding` succeeded within `ms`. If it has not ended by then, it goes on and still counts as running. */
  function attempt(name: QueueName | 'due-votes', ms: number, adding: Promise<unknown>): Promise<boolean> {
    const settled = adding
      .then(() => true)
      .catch((error: unknown) => {
        log.debug({ event: 'queue.add_failed', queue: name, reason: String(error) });
        return false;
      })
      .finally(() => underWay.delete(settled));
    underWay.add(settled);
    return within(ms, settled).catch(() => false);
  }

  const full = () => connection.status !== 'ready' || underWay.size >= MOST_ADDS_UNDER_WAY;

  return {
    async add(name, payload, options = {}) {
      if (full()) return false;
      const job = jobOf(name, { payload, ...options });
      const span = {
        name: `send ${name}`,
        kind: 'producer',
        attributes: jobAttributes(name, payload, 'send'),
      } as const;
      return tracing.run(span, async ({ traceparent, fail }) => {
        const adding = batcher.load(addBatch, queues[name], { job, traceparent });
        const isAdded = await attempt(name, LONGEST_ADD_MS, adding);
        if (!isAdded) fail('not-added');
        return isAdded;
      });
    },
    async announceDueVotes(serverId, { isChanged = false } = {}) {
      if (full()) return false;
      const channel = dueVotesChannel(config);
      const announcing = batcher.load(announceBatch, connection, {
        channel,
        message: isChanged ? `${serverId} changed` : serverId,
      });
      return attempt('due-votes', LONGEST_ADD_MS, announcing);
    },
    async addAll(name, jobs) {
      let taken = 0;
      while (taken < jobs.length) {
        if (full()) break;
        const bulk = jobs.slice(taken, taken + BULK).map((job) => jobOf(name, job));
        if (!(await attempt(name, LONGEST_BULK_MS, queues[name].addBulk(bulk)))) break;
        taken += bulk.length;
      }
      return taken;
    },
    async settle() {
      await within(LONGEST_ADD_MS, Promise.all(underWay)).catch(() => undefined);
    },
  };
}
