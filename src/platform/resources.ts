import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Queue } from 'bullmq';
import { type Batcher, createBatcher } from './batching/batcher.ts';
import { type Clock, MINUTE, SECOND, systemClock } from './clock.ts';
import { type ClockSkew, watchClockSkew } from './clock-skew.ts';
import type { ConnectedConfig } from './config.ts';
import { within } from './deadline.ts';
import { createDurability, type Durability } from './durability.ts';
import { createLogger, type Logger } from './log.ts';
import { type Mongo, OPERATION_TIMEOUT_MS, openMongo } from './mongo.ts';
import { createProducer, type Producer } from './producer.ts';
import { openQueues, type QueueName } from './queues.ts';
import { openRedis, type RedisConnection } from './redis.ts';
import { createSecretBox, type SecretBox } from './secrets.ts';
import { NO_TRACING, openTracing, type Tracing } from './tracing/tracing.ts';
import { type Answers, createAnswers } from './worker-answers.ts';

export type Resources = {
  config: ConnectedConfig;
  log: Logger;
  clock: Clock;
  clockSkew: ClockSkew;
  /** Each start has another one. The owners of listeners' leases begin with it. */
  processId: string;
  mongo: Mongo;
  batcher: Batcher;
  durability: Durability;
  secrets: SecretBox;
  tracing: Tracing;
  producer: Producer;
  answers: Answers;
  /** Their commands wait for Redis without a limit, so callers must limit the wait. */
  queues: Record<QueueName, Queue>;
  producerRedis: RedisConnection;
  /** Closes the queues, then Redis, then MongoDB (design rule 12), and exports the last spans at the same time. */
  close(): Promise<void>;
};

/** The defaults are those of the web process and the scheduler. */
export type OpenOptions = {
  log?: Logger;
  /** `close` closes it too. */
  mongo?: Mongo;
  mongoTimeoutMs?: number;
  mongoOperationMs?: number;
  /** If true, every write waits for MongoDB's journal. By default only writes with `DURABLE` do, such as votes. */
  durable?: boolean;
  traced?: boolean;
};

/**
 * Waits for MongoDB. Redis may be unavailable, because votes are accepted without it.
 *
 * @throws the driver's error when MongoDB does not answer in time or refuses the connection
 */
export async function openResources(
  config: ConnectedConfig,
  name: string,
  {
    log = createLogger(config, name),
    mongo: opened,
    mongoTimeoutMs = MINUTE,
    mongoOperationMs = OPERATION_TIMEOUT_MS,
    durable = false,
    traced = true,
  }: OpenOptions = {},
): Promise<Resources> {
  const limits = { timeoutMs: mongoTimeoutMs, operationMs: mongoOperationMs, durable };
  const mongo = opened ?? (await openMongo(config.MONGODB_URI, log, limits));
  const producerRedis = openRedis(config.REDIS_URL, log);
  const queues = openQueues(config, producerRedis, log);
  const processId = `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`;
  const tracing = traced ? await openTracing(config, { process: name, processId, log }) : NO_TRACING;
  const producer = createProducer(config, queues, producerRedis, log, tracing);
  const answers = createAnswers({
    config,
    connection: producerRedis,
    queue: queues['answer-now'],
    producer,
    log,
  });
  const batcher = createBatcher();
  const clock = systemClock(config.CLOCK_OFFSET_MS);

  return {
    config,
    log,
    clock,
    clockSkew: watchClockSkew(mongo.db, clock),
    processId,
    mongo,
    batcher,
    durability: createDurability(mongo, batcher, clock),
    secrets: createSecretBox(config.SECRET_KEY, config.SECRET_KEY_PREVIOUS),
    tracing,
    producer,
    answers,
    queues,
    producerRedis,
    async close() {
      // All requests are answered by now. If MongoDB does not answer, the limit keeps the shutdown short.
      await batcher.settle(SECOND);
      await producer.settle();
      await answers.close();
      // All spans have ended by now. They are exported while the rest is closed, so that the shutdown takes no longer.
      const exported = tracing.close();
      // A queue does not close while Redis is unavailable.
      const closing = Object.values(queues).map((queue) => queue.close());
      await within(SECOND, Promise.allSettled(closing)).catch(() => undefined);
      producerRedis.disconnect();
      // A suspended mongod does not answer the close.
      await within(2 * SECOND, mongo.close()).catch(() => undefined);
      await exported;
    },
  };
}
