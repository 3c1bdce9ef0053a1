import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../../src/own-services/free-port.ts';
import { REDIS } from '../../../src/own-services/redis-server.ts';
import type { ServiceKind } from '../../../src/own-services/service-process.ts';
import { SECOND } from '../../../src/platform/clock.ts';
import { killing, pick, stopping } from '../inject.ts';
import { type ControlledProcess, service } from '../process-control.ts';
import { ask } from './ask-redis.ts';
import {
  askFor,
  careOf,
  type Node,
  openNode,
  type ServiceOptions,
  type StormService,
} from './storm-service.ts';

const NAME = 'storm';

/** Sentinels treat a primary as down after this time; 30 s by default. */
const DOWN_AFTER_MS = SECOND;

/** How long a fault waits for a Sentinel that names the primary. */
const PRIMARY_TIMEOUT_MS = 5 * SECOND;

/** A primary and two replicas, each behind a proxy that all processes use, and three Sentinels. */
export async function startStormSentinel(options: ServiceOptions): Promise<StormService> {
  const open = (n: number, more: string[]) =>
    openNode(REDIS, options, {
      name: `redis-${n}`,
      requests: 'chunks',
      args: (line) => [...announce(line), ...more],
    });
  const first = await open(0, []);
  await first.start();
  const primaryAddress = ['127.0.0.1', String(first.line.port)];
  const replicas = await Promise.all([1, 2].map((n) => open(n, ['--replicaof', ...primaryAddress])));
  await Promise.all(replicas.map((node) => node.start()));
  const nodes = [first, ...replicas];
  const sentinels = await Promise.all([0, 1, 2].map((n) => openSentinel(n, first.line.port, options)));
  await Promise.all(sentinels.map((one) => one.start()));

  /** The node that the Sentinels name as the primary; the first node if none of them answers. */
  async function primary(): Promise<Node> {
    const named = await askFor(PRIMARY_TIMEOUT_MS, async () => {
      const ports = await Promise.all(sentinels.map(({ port }) => namedPrimary(port)));
      return nodes.find(({ line }) => ports.includes(line.port));
    });
    return named ?? first;
  }
  const replica = async (which: number) => {
    const current = await primary();
    return pick(
      nodes.filter((node) => node !== current),
      which,
    );
  };
  // Sentinels find replicas and each other by asking the primary.
  while (!(await knowsAll(sentinels))) await pause(50);

  const address = `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${NAME}`;
  const care = careOf(nodes);
  return {
    address,
    connect: async () => ({ address, line: async () => (await primary()).line }),
    faults: {
      'kill-redis-primary': killing(primary),
      'stop-redis-primary': stopping(primary),
      'kill-redis-replica': killing(replica),
      'kill-sentinel': killing((which) => pick(sentinels, which)),
      'fail-over-redis': async ({ which }) => failOver(pick(sentinels, which).port),
    },
    async mend() {
      await Promise.all([care.mend(), ...sentinels.map((one) => one.start())]);
    },
    async close() {
      await Promise.all([care.close(), ...sentinels.map((one) => one.kill())]);
    },
  };
}

const announce = (line: number) => [
  '--replica-announce-ip',
  '127.0.0.1',
  '--replica-announce-port',
  String(line),
];

type Sentinel = ControlledProcess & { port: number };

async function openSentinel(n: number, primaryPort: number, options: ServiceOptions): Promise<Sentinel> {
  const { binary, folder, died } = options;
  const port = await freePort();
  const dir = join(folder, `sentinel-${n}`);
  const file = join(dir, 'data', 'sentinel.conf');
  const kind: ServiceKind = {
    ...REDIS,
    title: 'Sentinel',
    args: () => [file, '--sentinel'],
    answeringPid: async () => Number(/process_id:(\d+)/.exec(await ask(port, 'INFO', 'server'))?.[1]),
  };
  // A Sentinel writes what it knows into this file and continues with it after a restart.
  await mkdir(join(dir, 'data'), { recursive: true });
  await writeFile(
    file,
    `port ${port}
bind 127.0.0.1
dir ${join(dir, 'data')}
sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} 2
sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}
sentinel failover-timeout ${NAME} 3000
`,
  );
  return { ...service(kind, { binary, dir, port }, died), port };
}

async function namedPrimary(sentinel: number): Promise<number | undefined> {
  const address = await ask(sentinel, 'SENTINEL', 'get-master-addr-by-name', NAME).catch(() => '');
  return Number(address.split(',')[1]) || undefined;
}

async function knowsAll(sentinels: Sentinel[]): Promise<boolean> {
  const known = await Promise.all(sentinels.map(({ port }) => ask(port, 'INFO', 'sentinel').catch(() => '')));
  return known.every((text) => text.includes('slaves=2,sentinels=3'));
}

/** Sentinel makes a replica the primary. */
async function failOver(sentinel: number): Promise<void> {
  // Refused while another failover is under way.
  await ask(sentinel, 'SENTINEL', 'FAILOVER', NAME).catch(() => undefined);
}
