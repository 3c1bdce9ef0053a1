import { Queue } from 'bullmq';
import { z } from 'zod';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';
import { bannerSizeSchema } from './pictures/banner-sizes.ts';
import type { RedisConnection } from './redis.ts';

const objectId = z.string().regex(/^[0-9a-f]{24}$/);

/** A user waits for the answer. The process that asks makes `askId` and sets `askedAt` by its own clock. */
const question = z.strictObject({ askId: z.uuid(), askedAt: z.iso.datetime() });

type Definition<Schema extends z.ZodType> = {
  /** Shown in Bull Board and the admin area, and the first part of the names of its jobs. */
  title: string;
  /** A sentence for the documentation. */
  does: string;
  payload: Schema;
  key: (payload: z.infer<Schema>) => string;
};

const queue = <Schema extends z.ZodType>(definition: Definition<Schema>) => definition;

/** The job finds its work in MongoDB. */
const oneJob = (title: string, does: string) =>
  queue({ title, does, payload: z.object({}), key: () => 'all' });

const daily = (title: string, does: string) =>
  queue({ title, does, payload: z.object({ day: z.iso.date() }), key: ({ day }) => day });

/** Each job forwards the due votes of one listener (design rule 3). */
const delivery = (title: string, does: string) =>
  queue({
    title,
    does,
    payload: z.object({
      serverId: objectId,
      listenerId: objectId,
      /** When the sweep found the due votes; absent if another caller added the job. */
      relayedAt: z.iso.datetime().optional(),
    }),
    key: ({ listenerId }) => listenerId,
  });

/**
 * What those who add jobs and those who run them have in common; how jobs run is in `workers/works.ts`. A payload has
 * ids and times, never content or a secret.
 *
 * `key` makes the deduplication id. If a job with that key is waiting or delayed, adding another one changes nothing,
 * unless `hasten` replaces a delayed job. If one is running, exactly one more run follows, so no add is lost. Job ids
 * are not ours, because BullMQ silently ignores an `add` with the id of a finished job that it still stores. Only a job
 * of `answer-now` has its `askId` as id, by which its events are found.
 */
export const QUEUES = {
  'forward-votes': delivery(
    'Forward votes',
    'Forwards votes to listeners that took a vote with their present settings and have not failed since.',
  ),
  'test-listeners': delivery(
    'Test listeners',
    'Forwards votes to all other listeners, one vote at a time each.',
  ),
  'drain-backlogs': delivery(
    'Drain backlogs',
    'Forwards votes to listeners that answer and have many open votes.',
  ),
  // The job reads the settings of the probe when it runs, so a late job uses the newest.
  'probe-servers': queue({
    title: 'Probe',
    does: 'Probes one game server. The scheduler takes due ones every second.',
    payload: z.object({ serverId: objectId }),
    key: ({ serverId }) => serverId,
  }),
  'clean-up': daily('Clean up', 'Deletes data past its retention time.'),
  'aggregate-day': daily('Aggregate day', 'Computes the statistics of every server for a finished UTC day.'),
  'repair-counters': daily(
    'Repair counters',
    'Counts the votes of a finished UTC day and corrects the counters.',
  ),
  'repair-today': oneJob(
    'Repair today’s counters',
    'Compares today’s counters with the votes and corrects those that differ.',
  ),
  'recompute-ranks': oneJob('Recompute ranks', 'Computes all ranks.'),
  'find-unusual-votes': oneJob('Find unusual votes', 'Finds servers that have far more votes than players.'),
  'count-figures': oneJob(
    'Count figures',
    'Counts the figures of the site and the deliveries of each server, by UTC day.',
  ),
  // Its text is encrypted in MongoDB.
  'send-mail': queue({
    title: 'Send mail',
    does: 'Sends one mail of the outbox.',
    payload: z.object({ mailId: z.string().min(1).max(120) }),
    key: ({ mailId }) => mailId,
  }),
  'tell-owners': oneJob('Tell owners', 'Finds the events about which owners get notifications.'),
  'watch-votes': oneJob(
    'Watch votes',
    'Finds votes that count and goals that are reached, for servers with a vote goal or a subscription to votes.',
  ),
  'send-reminders': oneJob(
    'Send reminders',
    'Reminds players who asked for it of their next votes, by web push and by mail.',
  ),
  'send-events': queue({
    title: 'Send events',
    does: 'Sends the due events of one subscription.',
    payload: z.object({ subscriptionId: objectId }),
    key: ({ subscriptionId }) => subscriptionId,
  }),
  'update-live-messages': queue({
    title: 'Update live status',
    does: 'Posts, edits or deletes the live status message of one server in Discord.',
    payload: z.object({ liveMessageId: objectId }),
    key: ({ liveMessageId }) => liveMessageId,
  }),
  'settle-accounts': oneJob(
    'Settle accounts',
    'Deletes accounts whose waiting period has ended, and completes interrupted changes of e-mail addresses.',
  ),
  'resume-listings': queue({
    title: 'Resume listings',
    does: 'Ends the pause of one listing whose date of return has come.',
    payload: z.object({ serverId: objectId }),
    key: ({ serverId }) => serverId,
  }),
  'exclude-votes': queue({
    title: 'Exclude votes',
    does: 'Finishes an exclusion of votes that was begun or is being undone.',
    payload: z.object({ exclusionId: objectId }),
    key: ({ exclusionId }) => exclusionId,
  }),
  'encode-pictures': queue({
    title: 'Encode pictures',
    does: "Encodes one picture of a server: an uploaded banner, or the icon in the game server's answer.",
    payload: z.object({ uploadId: z.string().regex(/^(icon-)?[0-9a-f]{24}$/) }),
    key: ({ uploadId }) => uploadId,
  }),
  'draw-cards': queue({
    title: 'Draw previews',
    does: 'Draws the preview of links to one server, or its banner as PNG.',
    payload: z.object({ serverId: objectId, banner: bannerSizeSchema.optional() }),
    key: ({ serverId, banner }) => (banner ? `${serverId}-${banner}` : serverId),
  }),
  // docs/adr/0114-a-thin-web-process.md
  'answer-now': queue({
    title: 'Answer',
    does: 'Does a task for a user who waits for its result.',
    payload: z.discriminatedUnion('task', [
      question.extend({ task: z.literal('check-draft'), draftId: objectId, userId: objectId }),
      question.extend({ task: z.literal('check-move'), serverId: objectId, userId: objectId }),
      question.extend({ task: z.literal('check-paused'), serverId: objectId, userId: objectId }),
      question.extend({ task: z.literal('check-second'), serverId: objectId, userId: objectId }),
      question.extend({ task: z.literal('test-listener'), serverId: objectId }),
      question.extend({ task: z.literal('test-subscription'), serverId: objectId, subscriptionId: objectId }),
      question.extend({ task: z.literal('test-mail'), userId: objectId }),
      question.extend({ task: z.literal('test-openid') }),
      question.extend({ task: z.literal('encode-logo'), uploadId: objectId }),
    ]),
    key: ({ askId }) => askId,
  }),
};

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

/** Events contain results, so Redis stores fewer than BullMQ's 10,000. A question has about a dozen. */
const MOST_ANSWER_EVENTS = 2_000;

/** One connection for adding and counting jobs and for Bull Board. */
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
