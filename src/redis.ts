import { Cluster, Redis } from 'ioredis';
import { SECOND } from './clock.ts';
import type { Logger } from './log.ts';

export type RedisConnection = Redis | Cluster;

/**
 * What a connection is for.
 *
 * - `producer`: adds jobs while a request waits for nothing; fails at once when Redis is away and gives up
 *   after a second when Redis is there and silent (a stopped process keeps its connections open).
 * - `worker`: waits for Redis for ever, as BullMQ's workers must.
 * - `desk`: an operator's page or command: gives up after five seconds.
 */
export type RedisPurpose = 'producer' | 'worker' | 'desk';

const OPTIONS = {
  producer: { maxRetriesPerRequest: 1, enableOfflineQueue: false, commandTimeout: SECOND },
  worker: { maxRetriesPerRequest: null, enableOfflineQueue: true },
  desk: { maxRetriesPerRequest: 1, enableOfflineQueue: false, commandTimeout: 5 * SECOND },
} satisfies Record<RedisPurpose, object>;

function retryDelay(attempt: number): number {
  return Math.min(50 * 2 ** Math.min(attempt, 6), 2 * SECOND);
}

function parseNodes(text: string): { host: string; port: number }[] {
  return text.split(',').map((node) => {
    const { hostname, port } = new URL(`redis://${node}`);
    return { host: hostname, port: Number(port || 6379) };
  });
}

/**
 * Opens a connection: `redis://`, `rediss://`, `redis+sentinel://host:port,…/name` or
 * `redis+cluster://host:port,…`. Never throws when Redis is away: it reconnects by itself, and says once in
 * the log that it is away and once that it is back.
 */
export function openRedis(url: string, purpose: RedisPurpose, log: Logger): RedisConnection {
  const connection = connect(url, OPTIONS[purpose]);
  let away = false;
  connection.on('error', (error: Error) => {
    if (!away) log.warn({ event: 'redis.away', purpose, reason: error.message }, 'Redis does not answer');
    away = true;
  });
  connection.on('ready', () => {
    if (away) log.info({ event: 'redis.back', purpose }, 'Redis answers again');
    away = false;
  });
  return connection;
}

function connect(url: string, purposeOptions: (typeof OPTIONS)[RedisPurpose]): RedisConnection {
  const options = { ...purposeOptions, connectTimeout: 5 * SECOND };
  const [scheme = '', rest = ''] = url.split('://');
  if (scheme === 'redis' || scheme === 'rediss')
    return new Redis(url, { ...options, retryStrategy: retryDelay });

  const at = rest.lastIndexOf('@');
  const [username, password] = at < 0 ? [] : rest.slice(0, at).split(':').map(decodeURIComponent);
  const credentials = { ...(username ? { username } : {}), ...(password ? { password } : {}) };
  const [nodes = '', name = '', database = '0'] = rest.slice(at + 1).split('/');
  if (scheme === 'redis+sentinel') {
    return new Redis({
      ...options,
      ...credentials,
      sentinels: parseNodes(nodes),
      name,
      db: Number(database),
    });
  }
  return new Cluster(parseNodes(nodes), {
    redisOptions: { ...options, ...credentials },
    enableOfflineQueue: options.enableOfflineQueue,
    clusterRetryStrategy: retryDelay,
  });
}
