/**
 * One round of probes by one real worker and one scheduler, against local responders that lose a share of requests:
 * `node bench/probing/round.ts [servers] [seconds of the round] [share lost]`. Prints how many servers were missed and how
 * many were called offline; both must be 0.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ObjectId } from 'mongodb';
import { findMongod } from '../../src/embedded/find-mongod.ts';
import { findRedis } from '../../src/embedded/find-redis.ts';
import { MONGOD } from '../../src/embedded/mongod.ts';
import { REDIS } from '../../src/embedded/redis-server.ts';
import { freePort, startService } from '../../src/embedded/service-process.ts';
import { after, SECOND } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/config.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openMongo } from '../../src/platform/mongo.ts';
import { bindCollections, type Collections } from '../../src/process/collections.ts';
import { migrateDatabase } from '../../src/process/migrate.ts';
import { addServer } from '../../src/servers/listing.ts';
import type { Server } from '../../src/servers/server.ts';

const [count = 10_000, seconds = 300, lost = 0.02] = process.argv.slice(2).map(Number);

/** Probes that start at the end of the round have this long to finish. */
const LAST_ANSWERS_MS = 15 * SECOND;

type Place = { game: string; port: number };

const env = ownEnvironment();
const dir = await mkdtemp(join(tmpdir(), 'tallyport-bench-'));

async function service(kind: typeof MONGOD, binary: Awaited<ReturnType<typeof findMongod>>) {
  const port = await freePort();
  const running = await startService(kind, { binary, dir, port, onSpawn: async () => undefined });
  return { running, address: kind.address(port) };
}

const mongod = await service(MONGOD, await findMongod(env, console.log));
const redis = await service(REDIS, await findRedis(env, console.log));
const processEnv = {
  ...env,
  MONGODB_URI: `${mongod.address}/tallyport`,
  REDIS_URL: redis.address,
  SECRET_KEY: 'k3y-for-benches-0123456789-abcdefghi',
  ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
  DESTINATION_LIMIT: '1000000',
  ACCOUNT_LIMIT: '1000000',
  METRICS_PORT: '0',
  LOG_LEVEL: 'info',
};

/** Starts a process and waits until it runs. */
async function start(entry: string, ...args: string[]): Promise<ChildProcess> {
  const path = fileURLToPath(new URL(`../../workers/${entry}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], {
    env: processEnv,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('process.started')) break;
  }
  child.stdout.resume();
  return child;
}

/** Lists servers that were seen online and are due evenly over the round. */
async function list(collections: Collections, places: Place[]): Promise<void> {
  const clock = { now: () => new Date() };
  // No ranking runs.
  const producer = { add: async () => false };
  const added = { name: 'Bench', address: '127.0.0.1', port: 1, game: 'minecraft' };
  const { serverId } = await addServer({ ...collections, clock, producer }, added, 'bench');
  const model = (await collections.servers.findOneAndDelete({ _id: new ObjectId(serverId) })) as Server;
  const now = clock.now();
  const servers = Array.from({ length: count }, (_, i) => {
    const { game, port } = places[i % places.length] as Place;
    const dueAt = after(now, (i / count) * seconds * SECOND);
    const probe = { ...model.probe, checkedAt: now, succeededAt: now, nextAt: dueAt, scheduledAt: dueAt };
    return {
      ...model,
      _id: new ObjectId(),
      slug: `bench-${i}`,
      slugs: [`bench-${i}`],
      game,
      port,
      probe: { ...probe, status: 'online' as const },
    };
  });
  await collections.servers.insertMany(servers);
}

async function report({ servers, statusSamples }: Collections, tookMs: number): Promise<void> {
  const sampled = await statusSamples.distinct('serverId');
  const by = await statusSamples
    .aggregate<{ _id: string; samples: number }>([{ $group: { _id: '$status', samples: { $sum: 1 } } }])
    .toArray();
  const offline = await servers.countDocuments({ 'probe.status': 'offline' });
  const samples = by.map(({ _id, samples }) => `${samples} ${_id}`).join(', ');
  console.log(`${count} servers in ${(tookMs / SECOND).toFixed(1)} s, ${lost * 100} % of requests lost`);
  console.log(`missed: ${count - sampled.length}, falsely offline: ${offline}, samples: ${samples}`);
}

const far = fork(new URL('round-responders.ts', import.meta.url), [String(lost)]);
const [places] = (await once(far, 'message')) as [Place[]];
const mongo = await openMongo(processEnv.MONGODB_URI, createLogger({ LOG_LEVEL: 'error' }, 'bench'));
const collections = bindCollections(mongo);
await migrateDatabase(mongo);
const worker = await start('main.ts', 'probe-servers');
await list(collections, places);
const began = performance.now();
const scheduler = await start('scheduler.ts');
const until = began + seconds * SECOND + LAST_ANSWERS_MS;
while (performance.now() < until && (await collections.statusSamples.distinct('serverId')).length < count) {
  await pause(SECOND);
}
await report(collections, performance.now() - began);

for (const child of [worker, scheduler]) {
  child.kill('SIGTERM');
  await once(child, 'exit');
}
far.disconnect();
await mongo.close();
await redis.running.stop();
await mongod.running.stop();
await rm(dir, { recursive: true });
