import { within } from './deadline.ts';
import type { RedisConnection } from './redis.ts';

/** Whether Redis answers within `ms` milliseconds. A stopped one keeps its connections, so only asking tells. */
export async function redisAnswers(redis: RedisConnection, ms: number): Promise<boolean> {
  if (redis.status !== 'ready') return false;
  try {
    await within(ms, redis.ping());
    return true;
  } catch {
    return false;
  }
}
