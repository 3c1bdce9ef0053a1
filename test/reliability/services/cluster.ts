import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../../src/own-services/free-port.ts';
import { REDIS } from '../../../src/own-services/redis-server.ts';
import { SECOND } from '../../../src/platform/clock.ts';
import { killing, pick, stopping } from '../inject.ts';
import { ask } from './ask-redis.ts';
import {
  askFor,
  careOf,
  type Node,
  openNode,
  type ServiceOptions,
  type StormService,
} from './storm-service.ts';

const SHARDS = 3;
const SLOTS = 16_384;

/** A replica takes over after its primary has not answered for so long; 15 s by default. */
const NODE_TIMEOUT_MS = SECOND;

/** How long a fault waits for a node that returns the roles. */
const ROLES_TIMEOUT_MS = 5 * SECOND;

type ClusterNode = Node & { id: string; bus: number };

/** Three primaries with a replica each, every node behind a proxy that all processes use. */
export async function startStormCluster(options: ServiceOptions): Promise<StormService> {
  const nodes = await Promise.all(Array.from({ length: 2 * SHARDS }, (_, n) => openClusterNode(n, options)));
  await join(nodes);

  /** The nodes of a role, according to the first node that answers. */
  async function withRole(role: 'master' | 'slave'): Promise<Node[]> {
    const found = await askFor(ROLES_TIMEOUT_MS, async () => {
      for (const { port } of nodes) {
        const table = await ask(port, 'CLUSTER', 'NODES').catch(() => '');
        const ids = idsOf(table, role);
        const some = nodes.filter(({ id }) => ids.has(id));
        if (some.length > 0) return some;
      }
      return undefined;
    });
    return found ?? nodes;
  }
  const primary = async (which: number) => pick(await withRole('master'), which);
  const replica = async (which: number) => pick(await withRole('slave'), which);

  const address = `redis+cluster://${nodes.map(({ line }) => `127.0.0.1:${line.port}`).join(',')}`;
  let lines = 0;
  return {
    address,
    connect: async () => {
      lines += 1;
      const own = lines;
      return { address, line: async () => (await primary(own)).line };
    },
    faults: {
      'kill-shard-primary': killing(primary),
      'stop-shard-primary': stopping(primary),
      'kill-shard-replica': killing(replica),
      'fail-over-shard': async ({ which }) => {
        // Refused while its primary does not answer.
        await ask((await replica(which)).port, 'CLUSTER', 'FAILOVER').catch(() => undefined);
      },
    },
    ...careOf(nodes),
  };
}

async function openClusterNode(n: number, options: ServiceOptions): Promise<ClusterNode> {
  const bus = await freePort();
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-port': bus,
    'cluster-node-timeout': NODE_TIMEOUT_MS,
    'cluster-announce-ip': '127.0.0.1',
    'cluster-announce-bus-port': bus,
    'cluster-require-full-coverage': 'no',
    'cluster-replica-validity-factor': 0,
  };
  const args = (line: number) =>
    Object.entries({ ...settings, 'cluster-announce-port': line }).flatMap(([name, value]) => [
      `--${name}`,
      String(value),
    ]);
  const node = await openNode(REDIS, options, { name: `redis-${n}`, requests: 'chunks', args });
  await node.start();
  return { ...node, bus, id: await ask(node.port, 'CLUSTER', 'MYID') };
}

/** Gives the first nodes the slots and each of them a replica; waits until every node knows it. */
async function join(nodes: ClusterNode[]): Promise<void> {
  const [first] = nodes as [ClusterNode];
  for (const { port, bus } of nodes.slice(1)) {
    await ask(first.port, 'CLUSTER', 'MEET', '127.0.0.1', String(port), String(bus));
  }
  const start = (n: number) => Math.ceil((SLOTS * n) / SHARDS);
  for (const [n, { port }] of nodes.slice(0, SHARDS).entries()) {
    await ask(port, 'CLUSTER', 'ADDSLOTSRANGE', String(start(n)), String(start(n + 1) - 1));
  }
  const everyNode = async (text: string) => {
    const infos = await Promise.all(nodes.map(({ port }) => ask(port, 'CLUSTER', 'INFO').catch(() => '')));
    return infos.every((info) => info.includes(text));
  };
  while (!(await everyNode(`cluster_known_nodes:${nodes.length}`))) await pause(50);
  for (const [n, { port }] of nodes.slice(SHARDS).entries()) {
    await ask(port, 'CLUSTER', 'REPLICATE', nodes[n]?.id ?? '');
  }
  const allReplicas = async () => {
    const tables = await Promise.all(nodes.map(({ port }) => ask(port, 'CLUSTER', 'NODES').catch(() => '')));
    return tables.every((table) => idsOf(table, 'slave').size === nodes.length - SHARDS);
  };
  while (!((await everyNode('cluster_state:ok')) && (await allReplicas()))) await pause(50);
}

/** The ids of the nodes of a role that are not down, from the answer to CLUSTER NODES. */
function idsOf(table: string, role: 'master' | 'slave'): Set<string> {
  const rows = table.split('\n').map((line) => line.split(' '));
  const able = rows.filter(([, , flags = '']) => {
    const all = flags.split(',');
    return all.includes(role) && !all.includes('fail');
  });
  return new Set(able.map(([id = '']) => id));
}
