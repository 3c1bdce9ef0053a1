import { Queue } from 'bullmq';
import { z } from 'zod';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';
import type { RedisConnection } from './redis.ts';

const objectId = z.string().regex(/^[0-9a-f]{24}$/);

/** A question: a user waits for its answer. The process that asks makes `askId` and sets `askedAt` by its own clock. */
const question = z.strictObject({ askId: z.uuid(), askedAt: z.iso.datetime() });

/** A job that forwards the due votes of one listener (design rule 3). */
const listenerJob = {
  payload: z.object({
    serverId: objectId,
    listenerId: objectId,
    /** When the sweep found the due votes; absent if another caller added the job. */
    relayedAt: z.iso.datetime().optional(),
  }),
  key: (payload: { listenerId: string }) => payload.listenerId,
};

/**
 * All queues. A payload has ids and times, never content or a secret.
 *
 * `key` makes the deduplication id. If a job with that key is waiting or delayed, adding another one changes nothing,
 * unless `hasten` replaces a delayed job. If a job with that key is running, exactly one more run follows, so no add is
 * lost.
 *
 * Tallyport chooses no job ids, because BullMQ silently ignores an `add` with the id of a finished job that it still
 * stores. Only a job of `answer-now` has its `askId` as id, by which its events are found.
 */
export const QUEUES = {
  /** Forwards votes to listeners that answer. */
  'forward-votes': { title: 'Forward votes', ...listenerJob },
  /** Forwards votes to listeners that failed since they last took a vote, or took none with their current settings. */
  'test-listeners': { title: 'Test listeners', ...listenerJob },
  /** Forwards votes to listeners that answer and have many waiting votes. */
  'drain-backlogs': { title: 'Drain backlogs', ...listenerJob },
  /** Probes one game server. The job reads the settings of the probe when it runs, so a late job uses the newest. */
  'probe-servers': {
    title: 'Probe',
    payload: z.object({ serverId: objectId }),
    key: (payload: { serverId: string }) => payload.serverId,
  },
  /** Deletes data past its retention time; one job per UTC day. */
  'clean-up': {
    title: 'Clean up',
    payload: z.object({ day: z.iso.date() }),
    key: (payload: { day: string }) => payload.day,
  },
  /** Computes the statistics of every server for a finished UTC day. */
  'aggregate-day': {
    title: 'Aggregate day',
    payload: z.object({ day: z.iso.date() }),
    key: (payload: { day: string }) => payload.day,
  },
  /** Counts the votes of a finished UTC day and corrects the counters; one job per day. */
  'repair-counters': {
    title: 'Repair counters',
    payload: z.object({ day: z.iso.date() }),
    key: (payload: { day: string }) => payload.day,
  },
  /** Compares today's counters with the votes and corrects the counters that differ. */
  'repair-today': {
    title: "Repair today's counters",
    payload: z.object({}),
    key: () => 'all',
  },
  'recompute-ranks': {
    title: 'Recompute ranks',
    payload: z.object({}),
    key: () => 'all',
  },
  /** Finds servers that have far more votes than players. */
  'find-unusual-votes': {
    title: 'Find unusual votes',
    payload: z.object({}),
    key: () => 'all',
  },
  /** Counts the figures of the site and the deliveries of each server, by UTC day. */
  'count-figures': {
    title: 'Count figures',
    payload: z.object({}),
    key: () => 'all',
  },
  /** Sends one mail of the outbox. Its text is encrypted in MongoDB. */
  'send-mail': {
    title: 'Send mail',
    payload: z.object({ mailId: z.string().min(1).max(120) }),
    key: (payload: { mailId: string }) => payload.mailId,
  },
  /** Sends one message to the Discord webhook of a server. Its text is encrypted in MongoDB. */
  'send-discord': {
    title: 'Send to Discord',
    payload: z.object({ messageId: z.string().min(1).max(120) }),
    key: (payload: { messageId: string }) => payload.messageId,
  },
  /** Finds the events about which owners get notifications. */
  'tell-owners': {
    title: 'Tell owners',
    payload: z.object({}),
    key: () => 'all',
  },
  /** Deletes accounts whose waiting period has ended, and completes interrupted changes of e-mail addresses. */
  'settle-accounts': {
    title: 'Settle accounts',
    payload: z.object({}),
    key: () => 'all',
  },
  /** Finishes an exclusion of votes that was begun or is being undone. */
  'exclude-votes': {
    title: 'Exclude votes',
    payload: z.object({ exclusionId: objectId }),
    key: (payload: { exclusionId: string }) => payload.exclusionId,
  },
  /** Encodes one picture of a server: an uploaded banner, or the icon in the game server's answer. */
  'encode-pictures': {
    title: 'Encode pictures',
    payload: z.object({ uploadId: z.string().regex(/^(icon-)?[0-9a-f]{24}$/) }),
    key: (payload: { uploadId: string }) => payload.uploadId,
  },
  /** Draws the preview of links to one server. */
  'draw-cards': {
    title: 'Draw previews',
    payload: z.object({ serverId: objectId }),
    key: (payload: { serverId: string }) => payload.serverId,
  },
  /** Does a task for a user who waits for its result (docs/adr/0114-a-thin-web-process.md). */
  'answer-now': {
    title: 'Answer',
    payload: z.discriminatedUnion('task', [
      question.extend({ task: z.literal('check-draft'), draftId: objectId, userId: objectId }),
      question.extend({ task: z.literal('check-move'), serverId: objectId, userId: objectId }),
      question.extend({ task: z.literal('test-listener'), serverId: objectId }),
      question.extend({ task: z.literal('test-discord'), serverId: objectId }),
      question.extend({ task: z.literal('test-mail'), userId: objectId }),
      question.extend({ task: z.literal('test-openid') }),
      question.extend({ task: z.literal('encode-logo'), uploadId: objectId }),
    ]),
    key: (payload: { askId: string }) => payload.askId,
  },
} as const;

export type QueueName = keyof typeof QUEUES;
export type Payload<N extends QueueName> = z.infer<(typeof QUEUES)[N]['payload']>;

export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];

/** The key prefix of a queue. Its hash tag puts all keys of the queue on one node of a Redis Cluster. */
export function queuePrefix(config: Pick<Config, 'QUEUE_PREFIX'>, name: QueueName): string {
  return `{${config.QUEUE_PREFIX}:${name}}`;
}

/** The channel on which the ids of servers with due votes are published. A message may be lost. */
export function dueVotesChannel({ QUEUE_PREFIX }: Pick<Config, 'QUEUE_PREFIX'>): string {
  return `${QUEUE_PREFIX}:takes`;
}

/**
 * How many events of `answer-now` Redis stores. Events contain results, so the limit is lower than BullMQ's default of
 * 10,000. A question has about a dozen events.
 */
const MOST_ANSWER_EVENTS = 2_000;

/** Opens every queue on one connection, for adding and counting jobs and for Bull Board. */
export function openQueues(
  config: Pick<Config, 'QUEUE_PREFIX'>,
  connection: RedisConnection,
  log: Logger,
): Record<QueueName, Queue> {
  const open = (name: QueueName) => {
    const queue = new Queue(name, {
      connection,
      prefix: queuePrefix(config, name),
      ...(name === 'answer-now' ? { streams: { events: { maxLen: MOST_ANSWER_EVENTS } } } : {}),
    });
    queue.on('error', (error) => log.debug({ event: 'queue.error', queue: name, reason: error.message }));
    return queue;
  };
  return Object.fromEntries(QUEUE_NAMES.map((name) => [name, open(name)])) as Record<QueueName, Queue>;
}
