import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Binary } from '../../src/embedded/binary.ts';
import { MONGOD } from '../../src/embedded/mongod.ts';
import { REDIS } from '../../src/embedded/redis-server.ts';
import { freePort } from '../../src/embedded/service-process.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { type ConnectedConfig, loadConfig, ownEnvironment } from '../../src/platform/config.ts';
import { createLogger } from '../../src/platform/log.ts';
import { migrate } from '../../src/process/migrate.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { type ControlledProcess, program, service } from './process-control.ts';

/** A process of ours, with lines of its own to mongod and Redis. */
export type PlatformProcess = ControlledProcess & { toMongod: FaultProxy; toRedis: FaultProxy };

/** The real processes of a platform: 2 web, 2 workers, a scheduler, mongod and Redis. */
export type Processes = {
  /** For whoever looks in from outside: past the lines that are cut. */
  config: ConnectedConfig;
  urls: string[];
  web: PlatformProcess[];
  workers: PlatformProcess[];
  scheduler: PlatformProcess;
  mongod: ControlledProcess;
  redis: ControlledProcess;
  /** Each process that ended without being killed on purpose. */
  crashes: string[];
  /** Starts what does not run, resumes what is stopped, and restores every line. */
  mend(): Promise<void>;
  /** Waits until both web processes are ready. */
  untilReady(): Promise<void>;
  close(): Promise<void>;
};

/** Faults in a storm last seconds, not hours: what waits for a listener waits as long. */
const QUICK = {
  LISTENER_TIMEOUT_MS: '1000',
  LEASE_MS: '6000',
  RELAY_INTERVAL_MS: '500',
  DELIVERY_SCHEDULE: '0s,0.5s,1s,2s,3s,5s',
  BREAKER_SCHEDULE: '0.5s,1s,2s,3s',
};

const READY_TIMEOUT_MS = 60 * SECOND;

/** Starts all of it on free ports and a fresh folder. */
export async function startProcesses(binaries: { mongod: Binary; redis: Binary }): Promise<Processes> {
  const folder = await mkdtemp(join(tmpdir(), 'tallyport-storm-'));
  const ports = {
    mongod: await freePort(),
    redis: await freePort(),
    web: [await freePort(), await freePort()],
  };
  const crashes: string[] = [];
  const died = (what: string) => void crashes.push(what);
  const mongod = service(
    MONGOD,
    { binary: binaries.mongod, dir: join(folder, 'mongod'), port: ports.mongod },
    died,
  );
  const redis = service(
    REDIS,
    { binary: binaries.redis, dir: join(folder, 'redis'), port: ports.redis },
    died,
  );
  const env = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'error',
    MONGODB_URI: `${MONGOD.address(ports.mongod)}/storm?directConnection=true`,
    REDIS_URL: REDIS.address(ports.redis),
    SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
    ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
    DESTINATION_LIMIT: '1000000',
    ACCOUNT_LIMIT: '1000000',
    METRICS_PORT: '0',
    ...QUICK,
  };
  const config = loadConfig(env) as ConnectedConfig;
  await Promise.all([mongod.start(), redis.start()]);
  await migrate(config, createLogger({ LOG_LEVEL: 'error' }, 'storm'));

  async function member(path: string, more: Record<string, string> = {}): Promise<PlatformProcess> {
    const toMongod = await startFaultProxy(ports.mongod, 'mongodb');
    const toRedis = await startFaultProxy(ports.redis, 'chunks');
    const MONGODB_URI = toMongod.through(env.MONGODB_URI);
    const REDIS_URL = toRedis.through(env.REDIS_URL);
    const own = { ...ownEnvironment(), ...env, ...more, MONGODB_URI, REDIS_URL };
    return { ...program(path, own, died), toMongod, toRedis };
  }
  const web = await Promise.all(ports.web.map((port) => member('src/server.ts', { PORT: String(port) })));
  const workers = await Promise.all([member('workers/main.ts'), member('workers/main.ts')]);
  const scheduler = await member('workers/scheduler.ts');
  const members = [...web, ...workers, scheduler];
  const lines = members.flatMap(({ toMongod, toRedis }) => [toMongod, toRedis]);
  const urls = ports.web.map((port) => `http://127.0.0.1:${port}`);
  const processes: Processes = {
    config,
    urls,
    web,
    workers,
    scheduler,
    mongod,
    redis,
    crashes,
    async mend() {
      for (const one of [mongod, redis, ...members]) one.resume();
      await Promise.all([mongod.start(), redis.start(), ...lines.map((line) => line.restore())]);
      await Promise.all(members.map((one) => one.start()));
    },
    untilReady: async () => void (await Promise.all(urls.map(untilReady))),
    async close() {
      await Promise.all(members.map((one) => one.kill()));
      await Promise.all(lines.map((line) => line.close()));
      await Promise.all([mongod.kill(), redis.kill()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
  await processes.mend();
  await processes.untilReady();
  return processes;
}

async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3 * SECOND) }).catch(
      () => null,
    );
    if (answer?.ok) return;
    if (Date.now() > deadline) throw new Error(`${url} is not ready: ${await answer?.text()}`);
    await pause(50);
  }
}
