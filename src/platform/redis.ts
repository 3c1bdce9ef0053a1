import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { SECOND } from './clock.ts';
import type { Logger } from './log.ts';

export type RedisConnection = Redis | Cluster;

/**
 * Options of a connection. Commands wait for Redis without a limit, because a BullMQ queue whose first command fails
 * never works again. Callers that must not wait check `connection.status` first and limit the wait (`createProducer`).
 *
 * If the machine of Redis vanishes, its connections stay open, and the system would notice it only after a quarter of
 * an hour. So if a connection receives nothing within `socketTimeout` after a command, it is closed and opened again.
 * That time is longer than BullMQ's blocking commands, which last up to 10 s.
 */
const OPTIONS = {
  maxRetriesPerRequest: null,
  connectTimeout: 5 * SECOND,
  socketTimeout: 20 * SECOND,
  // With the default of 2 s, a CLI command would take that much longer to exit if Redis is unavailable.
  disconnectTimeout: 200,
} satisfies RedisOptions;

function retryDelay(attempt: number): number {
  return Math.min(50 * 2 ** Math.min(attempt, 6), 2 * SECOND);
}

/** The options after the question mark of a Sentinel or cluster address. Only `family` (4 or 6) is used. */
function optionsIn(query = ''): Pick<RedisOptions, 'family'> {
  const family = Number(new URLSearchParams(query).get('family') ?? 0);
  return family ? { family } : {};
}

function parseNodes(text: string): { host: string; port: number }[] {
  return text.split(',').map((node) => {
    const { hostname, port } = new URL(`redis://${node}`);
    return { host: hostname, port: Number(port || 6379) };
  });
}

/**
 * Opens a connection to `redis://`, `rediss://`, `redis+sentinel://host:port,…/name` or `redis+cluster://host:port,…`.
 * Options such as `?family=6` may follow the address. If Redis is unavailable, this does not throw: the connection is
 * opened again and again. One line is logged when Redis goes away, and one when it is back.
 */
export function openRedis(url: string, log: Logger): RedisConnection {
  const connection = connect(url);
  let away = false;
  connection.on('error', (error: Error) => {
    if (!away) log.warn({ event: 'redis.away', reason: error.message }, 'Redis does not answer');
    away = true;
  });
  connection.on('ready', () => {
    if (away) log.info({ event: 'redis.back' }, 'Redis answers again');
    away = false;
  });
  return connection;
}

function connect(url: string): RedisConnection {
  const [scheme = '', rest = ''] = url.split('://');
  if (scheme === 'redis' || scheme === 'rediss')
    return new Redis(url, { ...OPTIONS, retryStrategy: retryDelay });

  const at = rest.lastIndexOf('@');
  const [path = '', query] = rest.slice(at + 1).split('?');
  // A password may contain colons.
  const [, username, password] = (/^([^:]*)(?::(.*))?$/s.exec(rest.slice(0, Math.max(at, 0))) ?? []).map(
    (part) => part && decodeURIComponent(part),
  );
  const options = { ...OPTIONS, ...optionsIn(query) };
  const credentials = { ...(username ? { username } : {}), ...(password ? { password } : {}) };
  const [nodes = '', name = '', database = '0'] = path.split('/');
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
    clusterRetryStrategy: retryDelay,
  });
}
