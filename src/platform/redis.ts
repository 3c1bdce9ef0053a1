import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { MINUTE, SECOND } from './clock.ts';
import { hostOf } from './host-and-port.ts';
import type { Logger } from './log.ts';
import { printable } from './printable.ts';

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

/**
 * The options of a Sentinel or cluster address. `sentinelUsername` and `sentinelPassword` are for the Sentinels
 * themselves.
 */
function optionsIn(query = ''): Pick<RedisOptions, 'family' | 'sentinelUsername' | 'sentinelPassword'> {
  // A password may have a plus sign, which `URLSearchParams` takes for a space.
  const given = new URLSearchParams(query.replaceAll('+', '%2B'));
  const family = Number(given.get('family') ?? 0);
  const [sentinelUsername, sentinelPassword] = [given.get('sentinelUsername'), given.get('sentinelPassword')];
  return {
    ...(family ? { family } : {}),
    ...(sentinelUsername ? { sentinelUsername } : {}),
    ...(sentinelPassword ? { sentinelPassword } : {}),
  };
}

function parseNodes(text: string): { host: string; port: number }[] {
  return text.split(',').map((node) => {
    const url = new URL(`redis://${node}`);
    return { host: hostOf(url), port: Number(url.port || 6379) };
  });
}

/**
 * Opens `redis://`, `redis+sentinel://host:port,…/name` or `redis+cluster://host:port,…`; with TLS the scheme begins
 * with `rediss`. If Redis is unavailable, this does not throw: it goes on trying. One line is logged when Redis goes
 * away, and one when it is back.
 */
export function openRedis(url: string, log: Logger): RedisConnection {
  let noted = Number.NEGATIVE_INFINITY;
  const connection = connect(url, () => {
    if (performance.now() - noted < MINUTE) return;
    noted = performance.now();
    log.warn(
      { event: 'redis.read_only' },
      'Redis is a replica: waiting for its address to lead to the primary',
    );
  });
  let away = false;
  connection.on('error', (error: Error) => {
    const reason = explainRedisError(error);
    if (!away) log.warn({ event: 'redis.away', reason }, 'Redis does not answer');
    away = true;
  });
  connection.on('ready', () => {
    if (away) log.info({ event: 'redis.back' }, 'Redis answers again');
    away = false;
  });
  return connection;
}

/**
 * After a failover behind a fixed name, a connection stays with the old primary, which is a replica now. A new
 * connection finds the new one. The refused command fails: it may be a part of a transaction, and the sweep finds its
 * work.
 */
function connect(url: string, onReadOnly: () => void): RedisConnection {
  const reconnectOnError = ({ message }: Error) => {
    const isReadOnly = message.includes('READONLY');
    if (isReadOnly) onReadOnly();
    return isReadOnly;
  };
  const ours = { ...OPTIONS, reconnectOnError };
  const [scheme = '', rest = ''] = url.split('://');
  if (scheme === 'redis' || scheme === 'rediss')
    return new Redis(url, { ...ours, retryStrategy: retryDelay });

  const at = rest.lastIndexOf('@');
  const [path = '', query] = rest.slice(at + 1).split('?');
  // A password may contain colons.
  const [, username, password] = (/^([^:]*)(?::(.*))?$/s.exec(rest.slice(0, Math.max(at, 0))) ?? []).map(
    (part) => part && decodeURIComponent(part),
  );
  const isTls = scheme.startsWith('rediss');
  const options = { ...ours, ...optionsIn(query), ...(isTls ? { tls: {} } : {}) };
  const credentials = { ...(username ? { username } : {}), ...(password ? { password } : {}) };
  const [nodes = '', name = '', database = '0'] = path.split('/');
  if (scheme.endsWith('+sentinel')) {
    return new Redis({
      ...options,
      ...credentials,
      sentinels: parseNodes(nodes),
      ...(isTls ? { sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
      name,
      db: Number(database),
    });
  }
  return new Cluster(parseNodes(nodes), {
    // Certificates are of names, so a name must not be replaced by its address.
    ...(isTls ? { dnsLookup: (name, done) => done(null, name) } : {}),
    redisOptions: { ...options, ...credentials },
    clusterRetryStrategy: retryDelay,
  });
}

export const DAMAGED_DATA =
  'if its log names a damaged append-only file, the data of a Redis that only Tallyport uses may be deleted (with Compose, the volume “valkey”): it holds no votes';

const HINTS: [RegExp, string][] = [
  [
    /All sentinels are unreachable.*NOAUTH/s,
    'the Sentinels ask for a password of their own: add ?sentinelPassword=… (and sentinelUsername) to REDIS_URL',
  ],
  [
    /All sentinels are unreachable.*WRONGPASS/s,
    'the Sentinels refuse sentinelUsername and sentinelPassword of REDIS_URL',
  ],
  [
    /self-signed certificate|unable to (verify|get)|unknown authority/i,
    'its certificate is of an authority that Node does not know: set NODE_EXTRA_CA_CERTS to the file of your authority, for every process',
  ],
  [
    /wrong version number|packet length too long/i,
    'it does not use TLS: begin REDIS_URL with redis, not rediss',
  ],
  [
    /ECONNRESET/,
    'it may use TLS: begin REDIS_URL with rediss; it may also ask for a certificate of the client',
  ],
  [/Protocol error, got/, 'it may use TLS: begin REDIS_URL with rediss'],
  [/ECONNREFUSED|ENOTFOUND|EAI_AGAIN/, DAMAGED_DATA],
];

/** Says what the operator can do about it, if that is known. */
export function explainRedisError(error: Error): string {
  // A Cluster reports only that no node answered. The reason is in the error of the last node.
  const { lastNodeError = error } = error as { lastNodeError?: Error };
  // The error of a name with several addresses has only a code.
  const message = printable(lastNodeError.message || String((lastNodeError as NodeJS.ErrnoException).code));
  const [, hint] = HINTS.find(([pattern]) => pattern.test(message)) ?? [];
  return hint ? `${message}; ${hint}` : message;
}
