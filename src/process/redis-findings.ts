import { Cluster } from 'ioredis';
import { printable } from '../platform/printable.ts';
import type { RedisConnection } from '../platform/redis.ts';

export type Findings = { facts: string[]; warnings: string[]; errors: string[] };

const OLDEST = { Redis: 7, Valkey: 8 };

export async function readRedis(connection: RedisConnection): Promise<Findings> {
  return findingsOf(await readInfos(connection), connection);
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

function findingsOf(infos: Info[], connection: RedisConnection): Findings {
  const isCluster = connection instanceof Cluster;
  const { tls, sentinels } = isCluster ? {} : connection.options;
  const versions = infos.map(versionOf);
  const shown = [...new Set(versions.map(({ name, version }) => `${name} ${version}`))].join(', ');
  const policies = new Set(infos.map((info) => info.maxmemory_policy ?? 'unknown'));
  const evicting = [...policies].filter((policy) => policy !== 'noeviction');
  const old = versions.find(({ name, version }) => Number.parseInt(version, 10) < OLDEST[name]);
  const needsCluster = !isCluster && infos.some((info) => info.redis_mode === 'cluster');
  const single = sentinels ? 'the primary that Sentinel named' : 'a single server';
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
      ...(!isCluster && infos.some((info) => info.role === 'slave')
        ? [
            'REDIS_URL leads to a replica, which takes no writes: name the primary, its Sentinels or an address that follows it.',
          ]
        : []),
      ...(needsCluster
        ? [
            `REDIS_URL names a node of a Redis Cluster: write ${tls ? 'rediss' : 'redis'}+cluster://host:port,host:port.`,
          ]
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
