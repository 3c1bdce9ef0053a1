import { type JobsOptions, Queue } from 'bullmq';
import { z } from 'zod';
import { type BatchLoader, createBatcher } from './batching/batcher.ts';
import { SECOND } from './clock.ts';
import type { Config } from './config.ts';
import { within } from './deadline.ts';
import type { Logger } from './log.ts';
import type { RedisConnection } from './redis.ts';

const objectId = z.string().regex(/^[0-9a-f]{24}$/);

/** A history that an operator can look back on, and that never grows without bound. */
const HISTORY = {
  removeOnComplete: { count: 200, age: 24 * 3_600 },
  removeOnFail: { count: 500, age: 7 * 24 * 3_600 },
};

/** Drains the due votes of one listener (design rule 3). */
const listenerJob = {
  payload: z.object({
    serverId: objectId,
    listenerId: objectId,
    /** When the relay found the work due; absent for every other caller. */
    relayedAt: z.iso.datetime().optional(),
  }),
  key: (payload: { listenerId: string }) => payload.listenerId,
};

/**
 * Every queue, in one place. A payload carries ids, never content and never a secret.
 *
 * `key` makes the deduplication id: while a job of that key waits or is delayed, another add changes nothing;
 * while one runs, exactly one more run follows it, so a wake-up is never lost. There are no custom job ids: an
 * `add` with the id of a retained job would be ignored silently.
 */
export const QUEUES = {
  /** Listeners that answer. */
  'forward-votes': { title: 'Forward votes', ...listenerJob },
  /** Listeners that failed since their last vote, and those that have taken none with their present settings. */
  'test-listeners': { title: 'Test listeners', ...listenerJob },
  /** Listeners that answer and have many waiting votes. */
  'drain-backlogs': { title: 'Drain backlogs', ...listenerJob },
  /** Asks one game server; which claim is asked for stands in MongoDB, so a late job serves the newest. */
  'probe-servers': {
    title: 'Probe',
    payload: z.object({ serverId: objectId }),
    key: (payload: { serverId: string }) => payload.serverId,
  },
  /** Forgets what has been kept long enough; one job a UTC day. */
  'clean-up': {
    title: 'Clean up',
    payload: z.object({ day: z.iso.date() }),
    key: (payload: { day: string }) => payload.day,
  },
  /** Computes a finished UTC day's statistics of every server. */
  'aggregate-day': {
    title: 'Aggregate day',
    payload: z.object({ day: z.iso.date() }),
    key: (payload: { day: string }) => payload.day,
  },
  /** Counts the votes of a finished UTC day and puts the counters right; one job a day. */
  'repair-counters': {
    title: 'Repair counters',
    payload: z.object({ day: z.iso.date() }),
    key: (payload: { day: string }) => payload.day,
  },
  /** Compares the counters of today with the votes while they are cast, and puts those right that differ. */
  'repair-today': {
    title: "Repair today's counters",
    payload: z.object({}),
    key: () => 'all',
  },
  /** Gives every listed server its place. */
  'recompute-ranks': {
    title: 'Recompute ranks',
    payload: z.object({}),
    key: () => 'all',
  },
  /** Looks for tokens that cast far more votes than their server has players. */
  'find-unusual-votes': {
    title: 'Find unusual votes',
    payload: z.object({}),
    key: () => 'all',
  },
  /** Sends one mail of the outbox; its text stands in MongoDB, sealed. */
  'send-mail': {
    title: 'Send mail',
    payload: z.object({ mailId: z.string().min(1).max(120) }),
    key: (payload: { mailId: string }) => payload.mailId,
  },
  /** Looks which owners are to be told of their listeners. */
  'tell-owners': {
    title: 'Tell owners',
    payload: z.object({}),
    key: () => 'all',
  },
  /** Finishes an exclusion of votes, or its undoing, that was begun and cut short. */
  'exclude-votes': {
    title: 'Exclude votes',
    payload: z.object({ exclusionId: objectId }),
    key: (payload: { exclusionId: string }) => payload.exclusionId,
  },
} as const;

export type QueueName = keyof typeof QUEUES;
export type Payload<N extends QueueName> = z.infer<(typeof QUEUES)[N]['payload']>;

export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];

/** The key prefix of a queue: one brace tag each, so that a Redis Cluster keeps its keys together. */
export function queuePrefix(config: Pick<Config, 'QUEUE_PREFIX'>, name: QueueName): string {
  return `{${config.QUEUE_PREFIX}:${name}}`;
}

/** Opens every queue on one connection, for Bull Board and for counting. */
export function openQueues(
  config: Pick<Config, 'QUEUE_PREFIX'>,
  connection: RedisConnection,
  log: Logger,
): Record<QueueName, Queue> {
  const open = (name: QueueName) => {
    const queue = new Queue(name, {
      connection,
      prefix: queuePrefix(config, name),
    });
    queue.on('error', (error) => log.debug({ event: 'queue.error', queue: name, reason: error.message }));
    return queue;
  };
  return Object.fromEntries(QUEUE_NAMES.map((name) => [name, open(name)])) as Record<QueueName, Queue>;
}

/** One job to add. */
export type NewJob<N extends QueueName> = {
  payload: Payload<N>;
  /** Stands behind the queue's title in Bull Board: `Probe: alpha-craft`. No secret, nothing long. */
  subject?: string;
  /** Goes before all that wait already. For few jobs at a time: of several the newest goes first. */
  first?: boolean;
};

/** How an add is made. */
export type AddOptions = {
  /** Also starts a job of the same key that is delayed. */
  hasten?: boolean;
  subject?: string;
};

/** Adds jobs without ever failing or delaying the one who asks. */
export type Producer = {
  /**
   * Adds a job.
   *
   * @returns whether Redis took it; `false` when it is away, silent or too many adds are under way. Nothing is
   *   lost then: MongoDB holds the work and whoever looks there finds it.
   */
  add<N extends QueueName>(name: N, payload: Payload<N>, options?: AddOptions): Promise<boolean>;
  /**
   * Adds many jobs of one queue, some hundred in a round trip.
   *
   * @returns how many of them, from the beginning, Redis has surely taken: the rest may be added again
   */
  addAll<N extends QueueName>(name: N, jobs: NewJob<N>[]): Promise<number>;
  /** Waits for the adds under way, at most a second. */
  settle(): Promise<void>;
};

/** A stopped Redis keeps its connection and settles nothing: this many adds may wait for it at once. */
const MOST_ADDS_UNDER_WAY = 1_000;

/** Nobody waits longer for an add, not even at the end of a process. */
const LONGEST_ADD_MS = SECOND;

/** So many jobs go out in one round trip, and may take so long. */
const BULK = 250;
const LONGEST_BULK_MS = 5 * SECOND;

type BullJob = { name: string; data: object; opts: JobsOptions };

/** Adds that come while one is under way go together; several that say the same become one. */
const addTogether: BatchLoader<Queue, BullJob, true> = {
  most: BULK,
  async load(queue, jobs) {
    const [only] = jobs;
    if (only && jobs.length === 1) await queue.add(only.name, only.data, only.opts);
    else await queue.addBulk([...new Map(jobs.map((job) => [JSON.stringify(job), job])).values()]);
    return jobs.map(() => true);
  },
};

/** Makes a producer on queues whose connection is `connection`. */
export function createProducer(
  queues: Record<QueueName, Queue>,
  connection: RedisConnection,
  log: Logger,
): Producer {
  const underWay = new Set<Promise<boolean>>();
  const batcher = createBatcher();

  const jobOf = <N extends QueueName>(
    name: N,
    { payload, subject, first }: NewJob<N>,
    { hasten = false }: AddOptions = {},
  ): BullJob => {
    const id = QUEUES[name].key(payload as never);
    const opts: JobsOptions = {
      ...HISTORY,
      ...(first ? { lifo: true } : {}),
      deduplication: { id, keepLastIfActive: true, ...(hasten ? { replace: true } : {}) },
    };
    const { title } = QUEUES[name];
    return { name: subject ? `${title}: ${subject}` : title, data: payload, opts };
  };

  /** Settles in `ms` at the latest; the add itself may go on, counted as under way. */
  function attempt(name: QueueName, ms: number, adding: Promise<unknown>): Promise<boolean> {
    const ended = adding
      .then(() => true)
      .catch((error: unknown) => {
        log.debug({ event: 'queue.add_failed', queue: name, reason: String(error) });
        return false;
      })
      .finally(() => underWay.delete(ended));
    underWay.add(ended);
    return within(ms, ended).catch(() => false);
  }

  const full = () => connection.status !== 'ready' || underWay.size >= MOST_ADDS_UNDER_WAY;

  return {
    async add(name, payload, options = {}) {
      if (full()) return false;
      const job = jobOf(name, { payload, subject: options.subject ?? '' }, options);
      return attempt(name, LONGEST_ADD_MS, batcher.load(addTogether, queues[name], job));
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
