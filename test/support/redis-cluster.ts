import { Redis } from 'ioredis';
import { vi } from 'vitest';
import { freePort } from '../../src/own-services/free-port.ts';
import { EVENTUALLY } from './eventually.ts';
import { startRedis, type TestService } from './services.ts';

/** A Redis Cluster of three primaries without replicas: if a primary is killed, its shard is unavailable. */
export type RedisCluster = { url: string; primaries: TestService[]; stop(): Promise<void> };

const SLOTS = 16_384;

/**
 * Starts the cluster and waits until every slot is served. If a shard is unavailable, the other shards still work.
 *
 * @param tls - the nodes speak TLS with each other, and with clients beside the plain port: the port of each, and the
 *   arguments that name the certificate
 */
export async function startRedisCluster(tls?: { ports: number[]; args: string[] }): Promise<RedisCluster> {
  const tlsOf = (n: number) =>
    tls ? ['--tls-port', String(tls.ports[n]), '--tls-cluster', 'yes', ...tls.args] : [];
  const primaries = await Promise.all(
    [0, 1, 2].map(async (n) => {
      const bus = String(await freePort());
      const cluster = ['--cluster-enabled', 'yes', '--cluster-port', bus, '--cluster-node-timeout', '1000'];
      const service = await startRedis({
        args: [...cluster, '--cluster-require-full-coverage', 'no', ...tlsOf(n)],
      });
      return { ...service, bus };
    }),
  );
  const clients = primaries.map(({ port }) => new Redis(port, '127.0.0.1'));
  const [first, ...others] = primaries;
  try {
    for (const [n, client] of clients.entries()) {
      const from = Math.ceil((SLOTS * n) / 3);
      await client.call('CLUSTER', 'ADDSLOTSRANGE', from, Math.ceil((SLOTS * (n + 1)) / 3) - 1);
    }
    for (const [n, { port, bus }] of others.entries()) {
      await clients[0]?.call('CLUSTER', 'MEET', '127.0.0.1', tls?.ports[n + 1] ?? port, bus);
    }
    for (const client of clients) {
      await vi.waitUntil(async () => {
        const info = String(await client.call('CLUSTER', 'INFO'));
        return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3');
      }, EVENTUALLY);
    }
  } finally {
    for (const client of clients) client.disconnect();
  }
  return {
    url: `redis+cluster://127.0.0.1:${first?.port}`,
    primaries,
    async stop() {
      await Promise.all(primaries.map((primary) => primary.stop()));
    },
  };
}
