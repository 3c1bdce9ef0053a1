import { once } from 'node:events';
import { Cluster } from 'ioredis';
import { SECOND } from '../../platform/clock.ts';
import { within } from '../../platform/deadline.ts';
import type { Logger } from '../../platform/log.ts';
import { printable } from '../../platform/printable.ts';
import { openRedis, type RedisConnection } from '../../platform/redis.ts';
import { sentence } from '../format.ts';
import { type Findings, failed } from './findings.ts';

/** How long the check waits for a connection. */
const CONNECT_TIMEOUT_MS = 5 * SECOND;

/** The oldest supported major versions. */
const OLDEST = { Redis: 7, Valkey: 8 };

/** Checks the version, eviction, persistence, and whether the URL fits a Redis Cluster. */
export async function checkRedis(url: string, log: Logger): Promise<Findings> {
  const connection = openRedis(url, log);
  try {
    await once(connection, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    const infos = await within(CONNECT_TIMEOUT_MS, readInfos(connection));
    return findingsOf(infos, connection instanceof Cluster, url.startsWith('redis+sentinel:'));
  } catch (error) {
    return failed(sentence(`Redis does not answer: ${reasonOf(error)}`));
  } finally {
    connection.disconnect();
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError') return `no connection within ${CONNECT_TIMEOUT_MS / SECOND} seconds`;
  // For a Cluster, ioredis only reports that no node answered. The reason is in the error of the last node.
  const { lastNodeError } = error as { lastNodeError?: Error };
  return printable(lastNodeError?.message ?? error.message);
}

type Info = Record<string, string>;

/** The INFO of Redis, or of each primary of a Cluster. */
async function readInfos(connection: RedisConnection): Promise<Info[]> {
  const nodes = connection instanceof Cluster ? connection.nodes('master') : [connection];
  const texts = await Promise.all(nodes.map((node) => node.info()));
  return texts.map((text) =>
    Object.fromEntries([...text.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name, value]) => [name, value])),
  );
}

function findingsOf(infos: Info[], isCluster: boolean, hasSentinel: boolean): Findings {
  const versions = infos.map(versionOf);
  const shown = [...new Set(versions.map(({ name, version }) => `${name} ${version}`))].join(', ');
  const policies = new Set(infos.map((info) => info.maxmemory_policy ?? 'unknown'));
  const evicting = [...policies].filter((policy) => policy !== 'noeviction');
  const old = versions.find(({ name, version }) => Number.parseInt(version, 10) < OLDEST[name]);
  const needsCluster = !isCluster && infos.some((info) => info.redis_mode === 'cluster');
  const single = hasSentinel ? 'the primary that Sentinel named' : 'a single server';
  const kind = isCluster
    ? `a Cluster with ${infos.length} ${infos.length === 1 ? 'primary' : 'primaries'}`
    : single;
  return {
    facts: [
      `${shown} answers: ${kind}.`,
      ...(evicting.length === 0 ? ['maxmemory-policy is noeviction.'] : []),
    ],
    warnings: [
      ...(old
        ? [`${old.name} ${old.version} is older than ${OLDEST[old.name]}, which Tallyport is meant for.`]
        : []),
      ...(infos.some((info) => info.aof_enabled === '0')
        ? ['Redis has no append-only file (appendonly no): after a crash jobs are found again later.']
        : []),
    ],
    errors: [
      ...evicting.map(
        (policy) =>
          `maxmemory-policy is ${printable(policy)}: set noeviction, or Redis removes jobs when its memory is full.`,
      ),
      ...(needsCluster
        ? ['REDIS_URL names a node of a Redis Cluster: write redis+cluster://host:port,host:port.']
        : []),
    ],
  };
}

function versionOf(info: Info): { name: keyof typeof OLDEST; version: string } {
  const { valkey_version: valkey, redis_version: redis = 'of an unknown version' } = info;
  return valkey
    ? { name: 'Valkey', version: printable(valkey) }
    : { name: 'Redis', version: printable(redis) };
}
