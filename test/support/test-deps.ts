import { vi } from 'vitest';
import { type ConnectedConfig, loadConfig } from '../../src/platform/config.ts';
import type { OpenOptions } from '../../src/platform/resources.ts';
import { type AppDeps, openAppDeps } from '../../src/process/app-deps.ts';
import { ImportedCooldowns } from '../../src/votes/cast/imported-cooldowns.ts';
import { atTheEnd } from './at-the-end.ts';
import { freshNames, migrateFresh, pooledMongo } from './databases.ts';
import { EVENTUALLY } from './eventually.ts';
import { TEST_KEY } from './filled-texts.ts';

/**
 * High limits: all fake peers have the address of this machine, so the usual limits would refuse them. A test of a
 * limit sets its own value.
 */
export const UNLIMITED = {
  DESTINATION_LIMIT: '1000000',
  ACCOUNT_LIMIT: '1000000',
  MAX_EVENT_LOOP_DELAY_MS: '0',
  CONNECTIONS_PER_ADDRESS: '0',
};

/** A configuration with its own database and queues. `env` are the variables that an operator would set. */
export function testConfig(env: Record<string, string> = {}): ConnectedConfig {
  const fresh = freshNames();
  const config = loadConfig({
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    MONGODB_URI: fresh.mongodbUri,
    REDIS_URL: fresh.redisUrl,
    QUEUE_PREFIX: fresh.queuePrefix,
    SECRET_KEY: TEST_KEY,
    ...UNLIMITED,
    ...env,
  });
  return config as ConnectedConfig;
}

/** Options of `openAppDeps` with the shared connection, if the database is one of the pool. */
export async function onPooledMongo(
  { MONGODB_URI }: ConnectedConfig,
  { durable }: OpenOptions = {},
): Promise<OpenOptions> {
  const mongo = await pooledMongo(MONGODB_URI, durable);
  return mongo ? { mongo } : {};
}

/** Iterations of a try of a proof of work: a whole proof costs 0.5 ms instead of 30. */
const CHEAP_PROOFS = 10;

/** As a process opens them, but imports do not wait until other processes know of them. */
export async function openQuickDeps(config: ConnectedConfig): Promise<AppDeps> {
  const deps = await openAppDeps(config, 'test', await onPooledMongo(config));
  return { ...deps, importedCooldowns: new ImportedCooldowns(deps.importMarks, { settledMs: 0 }) };
}

/**
 * The dependencies as a process opens them, with the database migrated and, unless `env` names another Redis, connected
 * to Redis; closed when the test ends. Proofs of work are cheap.
 */
export async function testDeps(env: Record<string, string> = {}): Promise<AppDeps> {
  const config = testConfig(env);
  const deps = await openQuickDeps(config);
  atTheEnd(() => deps.close());
  await migrateFresh(deps, config.MONGODB_URI);
  // Wait for the connection: on a busy machine, adding a job may give up before it is connected.
  if (!env.REDIS_URL) await vi.waitUntil(() => deps.producerRedis.status === 'ready', EVENTUALLY);
  return { ...deps, proofIterations: CHEAP_PROOFS };
}
