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
import { createProducer, openQueues, type Producer, type QueueName } from './queues.ts';
import { openRedis, type RedisConnection } from './redis.ts';
import { createSecretBox, type SecretBox } from './secrets.ts';

/** What a process holds open: opened together, closed together. */
export type Resources = {
  config: ConnectedConfig;
  log: Logger;
  clock: Clock;
  /** How far this process's clock is from mongod's. */
  clockSkew: ClockSkew;
  /** Tells this process from every other that ever ran: the owner of its leases. */
  processId: string;
  mongo: Mongo;
  /** Through which requests in flight together share their operations. */
  batcher: Batcher;
  /** Makes sure that what an answer rests on is durable. */
  durability: Durability;
  secrets: SecretBox;
  producer: Producer;
  /** Every queue, for users to look into. Commands wait for Redis: bound them. */
  queues: Record<QueueName, Queue>;
  producerRedis: RedisConnection;
  /** Closes the queues, then Redis, then MongoDB (design rule 12). */
  close(): Promise<void>;
};

/** How a command differs from a process that runs on: it logs elsewhere, and a user waits for it. */
export type OpenOptions = {
  /** By default one that writes to standard output. */
  log?: Logger;
  /** How long MongoDB is waited for: a minute by default. */
  mongoTimeoutMs?: number;
  /** How long an operation may take: 5 s by default, as long as an API request may. */
  mongoOperationMs?: number;
  /** Every write waits for MongoDB's journal; by default only those of votes and their delivery do. */
  durable?: boolean;
};

/**
 * Opens what a process needs. Redis may be away: votes are accepted without it. MongoDB is waited for.
 *
 * @param name - the process's name in its log lines
 * @throws the driver's error when MongoDB does not answer in time or refuses us
 */
export async function openResources(
  config: ConnectedConfig,
  name: string,
  {
    log = createLogger(config, name),
    mongoTimeoutMs = MINUTE,
    mongoOperationMs = OPERATION_TIMEOUT_MS,
    durable = false,
  }: OpenOptions = {},
): Promise<Resources> {
  const mongo = await openMongo(config.MONGODB_URI, log, {
    timeoutMs: mongoTimeoutMs,
    operationMs: mongoOperationMs,
    durable,
  });
  const producerRedis = openRedis(config.REDIS_URL, log);
  const queues = openQueues(config, producerRedis, log);
  const producer = createProducer(queues, producerRedis, log);
  const batcher = createBatcher();
  const clock = systemClock(config.CLOCK_OFFSET_MS);

  return {
    config,
    log,
    clock,
    clockSkew: watchClockSkew(mongo.db, clock),
    processId: `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`,
    mongo,
    batcher,
    durability: createDurability(mongo, batcher, clock),
    secrets: createSecretBox(config.SECRET_KEY, config.SECRET_KEY_PREVIOUS),
    producer,
    queues,
    producerRedis,
    async close() {
      // Whoever waited for them has been told by now: longer, and a MongoDB that stands still would make the stop too
      // long.
      await batcher.settle(SECOND);
      await producer.settle();
      // A queue whose Redis is away does not close by itself.
      const closing = Object.values(queues).map((queue) => queue.close());
      await within(SECOND, Promise.allSettled(closing)).catch(() => undefined);
      producerRedis.disconnect();
      // A mongod that stands still answers no goodbye.
      await within(2 * SECOND, mongo.close()).catch(() => undefined);
    },
  };
}
