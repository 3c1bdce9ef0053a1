import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Queue } from 'bullmq';
import { type Answers, createAnswers } from './answers.ts';
import { type Batcher, createBatcher } from './batching/batcher.ts';
import { type Clock, MINUTE, SECOND, systemClock } from './clock.ts';
import { type ClockSkew, watchClockSkew } from './clock-skew.ts';
import type { ConnectedConfig } from './config.ts';
import { within } from './deadline.ts';
import { createDurability, type Durability } from './durability.ts';
import { createLogger, type Logger } from './log.ts';
import { type Mongo, OPERATION_TIMEOUT_MS, openMongo } from './mongo.ts';
import { createProducer, openQueues, type Producer, type QueueName } from './queues.ts';
import { openRedis, type RedisConnection } from './redis.ts';
import { createSecretBox, type SecretBox } from './secrets.ts';
import { openTracing } from './tracing/open-tracing.ts';
import { NO_TRACING, type Tracing } from './tracing/tracing.ts';

/** The connections and services of a process. They are opened and closed together. */
export type Resources = {
  config: ConnectedConfig;
  log: Logger;
  clock: Clock;
  /** How far this process's clock is from mongod's. */
  clockSkew: ClockSkew;
  /** Unique for each process that ever ran: the owner in its leases. */
  processId: string;
  mongo: Mongo;
  /** Lets requests in flight at the same time share database operations. */
  batcher: Batcher;
  /** Makes sure that the data behind an answer is durable. */
  durability: Durability;
  secrets: SecretBox;
  tracing: Tracing;
  producer: Producer;
  /** Asks workers for what a person waits for. */
  answers: Answers;
  /** All queues, for Bull Board and for counting. Commands wait for Redis: limit the wait. */
  queues: Record<QueueName, Queue>;
  producerRedis: RedisConnection;
  /** Closes the queues, then Redis, then MongoDB (design rule 12). The last spans are exported meanwhile. */
  close(): Promise<void>;
};

/** Options for commands of the CLI, which log to another stream and should answer soon. */
export type OpenOptions = {
  /** By default one that writes to standard output. */
  log?: Logger;
  /** A connection that is open already; by default it opens one. `close` closes it. */
  mongo?: Mongo;
  /** How long to wait for MongoDB: a minute by default. */
  mongoTimeoutMs?: number;
  /** How long an operation may take: 5 s by default, the same as an API request. */
  mongoOperationMs?: number;
  /** If true, every write waits for MongoDB's journal; by default only writes of votes and deliveries do. */
  durable?: boolean;
  /** False: no spans are exported, even if the configuration asks for them. True by default. */
  traced?: boolean;
};

/**
 * Opens the connections of a process and waits for MongoDB. Redis may be unavailable: votes are accepted without it.
 *
 * @param name - the process's name in its log lines
 * @throws the driver's error when MongoDB does not answer in time or refuses us
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
      // The requests are answered by now. The limit keeps the shutdown short when MongoDB does not answer.
      await batcher.settle(SECOND);
      await producer.settle();
      await answers.close();
      // All spans have ended by now. Beside the other closes, so that a shutdown takes no longer.
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
