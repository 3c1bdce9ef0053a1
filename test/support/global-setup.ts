import type { TestProject } from 'vitest/node';
import { ownEnvironment } from '../../src/config.ts';
import type { Binary } from '../../src/embedded/binary.ts';
import { findMongod } from '../../src/embedded/find-mongod.ts';
import { findRedis } from '../../src/embedded/find-redis.ts';
import { sweepFolders } from './service-folders.ts';
import { startMongod, startRedis } from './services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The mongod that all test files share, each with a database of its own: `freshNames()`. */
    mongodbUri: string;
    /** The Redis that all test files share, each with a queue prefix of its own. */
    redisUrl: string;
    /** What `startMongod()` and `startRedis()` run. */
    mongodBinary: Binary;
    redisBinary: Binary;
  }
}

/** One mongod and one Redis for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await sweepFolders();
  const env = ownEnvironment();
  const mongodBinary = await findMongod(env, console.log);
  const redisBinary = await findRedis(env, console.log);
  const mongod = await startMongod({ binary: mongodBinary });
  const redis = await startRedis({ binary: redisBinary });
  project.provide('mongodbUri', mongod.uri);
  project.provide('redisUrl', redis.url);
  project.provide('mongodBinary', mongodBinary);
  project.provide('redisBinary', redisBinary);
  return async () => {
    await redis.stop();
    await mongod.stop();
    await sweepFolders();
  };
}
