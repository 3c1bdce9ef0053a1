import { type Queue, QueueEvents } from 'bullmq';
import { MINUTE, SECOND } from './clock.ts';
import type { Config } from './config.ts';
import { within } from './deadline.ts';
import type { Logger } from './log.ts';
import type { Producer } from './producer.ts';
import { type Payload, queuePrefix } from './queues.ts';
import type { RedisConnection } from './redis.ts';

export type Question = Payload<'answer-now'>;

/**
 * A worker drops a question that is older than this and does not run it. A worker compares `askedAt` with its own
 * clock. Each clock is at most 2 s off mongod's (ADR 40), so a question is dropped at an age of 16 to 24 s.
 */
export const DEADLINE_MS = 20 * SECOND;

/** The limits on the wait for an answer. The first two are measured from the question. */
export const LIMITS = {
  /** If no worker has begun the question after this time and none runs another question: it ends with `no-worker`. */
  beginMs: 5 * SECOND,
  /** If no worker has begun the question after this time: it ends with `too-late`. */
  deadlineMs: DEADLINE_MS,
  /** If a worker has begun and has no result after this time, because the task hangs: it ends with `interrupted`. */
  runMs: MINUTE + 10 * SECOND,
};
export type AnswerLimits = typeof LIMITS;

const COMMAND_MS = SECOND;

/**
 * `no-worker`: no worker began in time, and none was busy with other questions; `too-late`: workers were busy, and none
 * began this one before the deadline; `interrupted`: the worker stopped or died, or the task hangs; `failed`: Tallyport
 * or MongoDB failed, and the worker has logged the error; `redis-away`: Redis did not accept the question, or the
 * connection to it was lost; `stopped`: this process stops.
 */
export type NotAnswered = {
  kind: 'no-worker' | 'too-late' | 'interrupted' | 'failed' | 'redis-away' | 'stopped';
};

export type QuestionResult<T> = { kind: 'answered'; result: T } | NotAnswered;

/** `dropped`: the question was older than `DEADLINE_MS`. */
export type WorkersAnswer<T> =
  | { kind: 'answered'; result: T }
  | { kind: 'dropped' }
  | { kind: 'interrupted' | 'failed' };

/** The progress of a question: all steps that have begun. Each event has all of them, so a lost one does no harm. */
export type AnswerProgress = { steps: string[] };

/** Elsewhere, the web process never waits long for Redis (design rule 2). */
export type Answers = {
  /** Never throws, and ends in limited time. */
  ask(question: Question, onStep?: (step: string) => void): Promise<QuestionResult<unknown>>;
  giveUp(): void;
  close(): Promise<void>;
};

type AnswerDeps = {
  config: Pick<Config, 'QUEUE_PREFIX'>;
  connection: RedisConnection;
  queue: Queue;
  producer: Pick<Producer, 'add'>;
  log: Logger;
};

/** The connection for events is opened with the first question. */
export function createAnswers(deps: AnswerDeps, limits: AnswerLimits = LIMITS): Answers {
  const { connection, queue, producer, log } = deps;
  const waits = new Map<string, ReturnType<typeof openWait>>();
  let listening: Promise<QueueEvents> | undefined;

  const endAll = (ended: NotAnswered) => {
    for (const wait of waits.values()) wait.end(ended);
  };
  const onLost = () => endAll({ kind: 'redis-away' });
  connection.on('close', onLost);

  function listen(): Promise<QueueEvents> {
    listening ??= openEvents(deps, waits).catch((error: unknown) => {
      listening = undefined;
      throw error;
    });
    return listening;
  }

  async function areWorkersBusy(): Promise<boolean> {
    return within(COMMAND_MS, queue.getActiveCount()).then(
      (active) => active > 0,
      () => false,
    );
  }

  async function isAccepted(question: Question): Promise<boolean> {
    if (connection.status !== 'ready') return false;
    try {
      await within(COMMAND_MS, listen());
    } catch (error) {
      log.warn({ event: 'answer.not_heard', reason: String(error) });
      return false;
    }
    return producer.add('answer-now', question, { subject: question.task });
  }

  return {
    async ask(question, onStep = () => undefined) {
      const { askId, task } = question;
      const wait = openWait(limits, onStep, areWorkersBusy);
      // The wait begins before the question is added, because the events may come at once.
      waits.set(askId, wait);
      try {
        if (!(await isAccepted(question))) wait.end({ kind: 'redis-away' });
        const ended = await wait.ended;
        if (ended.kind !== 'answered') log.warn({ event: 'answer.missing', task, askId, reason: ended.kind });
        // Nobody waits for the question any more. If a worker has just begun, Redis refuses to remove it.
        if (ended.kind === 'no-worker' || ended.kind === 'too-late')
          await within(COMMAND_MS, queue.remove(askId)).catch(() => undefined);
        return ended;
      } finally {
        waits.delete(askId);
      }
    },
    giveUp: () => endAll({ kind: 'stopped' }),
    async close() {
      endAll({ kind: 'stopped' });
      connection.off('close', onLost);
      const closing = listening?.then((events) => events.close());
      if (closing) await within(COMMAND_MS, closing).catch(() => undefined);
    },
  };
}

/** Reads the events of the queue from the newest one on, so that no event of a later question is missed. */
async function openEvents(
  { config, connection, queue, log }: AnswerDeps,
  waits: Map<string, ReturnType<typeof openWait>>,
): Promise<QueueEvents> {
  const [newest] = await connection.xrevrange(queue.toKey('events'), '+', '-', 'COUNT', 1);
  const events = new QueueEvents('answer-now', {
    connection,
    prefix: queuePrefix(config, 'answer-now'),
    lastEventId: newest?.[0] ?? '0',
  });
  events.on('error', (error) =>
    log.debug({ event: 'queue.error', queue: 'answer-now', reason: error.message }),
  );
  events.on('active', ({ jobId }) => waits.get(jobId)?.onBegin());
  events.on('progress', ({ jobId, data }) => waits.get(jobId)?.onProgress(data as AnswerProgress));
  events.on('completed', ({ jobId, returnvalue }) => waits.get(jobId)?.end(endOf(returnvalue)));
  events.on('failed', ({ jobId }) => waits.get(jobId)?.end({ kind: 'failed' }));
  return events;
}

/** An answer of a kind that only a newer version knows has failed for this one. */
function endOf(returned: unknown): QuestionResult<unknown> {
  const answer = returned as WorkersAnswer<unknown>;
  if (answer.kind === 'dropped') return { kind: 'too-late' };
  return answer.kind === 'answered' || answer.kind === 'interrupted' ? answer : { kind: 'failed' };
}

/** `ended` resolves with the answer, or when a limit is reached. */
function openWait(
  { beginMs, deadlineMs, runMs }: AnswerLimits,
  onStep: (step: string) => void,
  areWorkersBusy: () => Promise<boolean>,
) {
  const { promise: ended, resolve } = Promise.withResolvers<QuestionResult<unknown>>();
  let isWaiting = true;
  let shown = 0;
  let timer = setTimeout(async () => {
    const isBusy = await areWorkersBusy();
    if (!isWaiting) return;
    if (!isBusy) end({ kind: 'no-worker' });
    else timer = setTimeout(() => end({ kind: 'too-late' }), deadlineMs - beginMs);
  }, beginMs);

  function end(how: QuestionResult<unknown>): void {
    isWaiting = false;
    clearTimeout(timer);
    resolve(how);
  }

  return {
    ended,
    end,
    onBegin() {
      if (!isWaiting) return;
      isWaiting = false;
      clearTimeout(timer);
      timer = setTimeout(() => end({ kind: 'interrupted' }), runMs);
    },
    onProgress({ steps }: AnswerProgress) {
      for (const step of steps.slice(shown)) onStep(step);
      shown = Math.max(shown, steps.length);
    },
  };
}
