import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { migrate } from '../../src/database/migrate.ts';
import type { Binary } from '../../src/own-services/binary.ts';
import { freePort } from '../../src/own-services/free-port.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { type ConnectedConfig, loadConfig } from '../../src/platform/config.ts';
import { ownEnvironment, type Variables } from '../../src/platform/environment.ts';
import { createLogger } from '../../src/platform/log.ts';
import { type ControlledProcess, program } from './process-control.ts';
import { startStormCluster } from './services/cluster.ts';
import { startLoneMongod, startLoneRedis } from './services/lone-service.ts';
import { startStormReplicaSet } from './services/replica-set.ts';
import { startStormSentinel } from './services/sentinel.ts';
import type { Connection, StormService } from './services/storm-service.ts';

/** A Tallyport process, with its connections to MongoDB and Redis. */
export type PlatformProcess = ControlledProcess & {
  toMongod: Connection['line'];
  toRedis: Connection['line'];
};

/** MongoDB alone or as a replica set; Redis alone, behind Sentinels or as a cluster. */
export type Topology = {
  mongod: keyof typeof MONGODS;
  redis: keyof typeof REDISES;
  /** Of each mongod, such as `oplogNetworkTimeoutBufferSeconds=1`. */
  mongodParameters?: string[];
};

const MONGODS = { alone: startLoneMongod, 'replica-set': startStormReplicaSet };
const REDISES = { alone: startLoneRedis, sentinel: startStormSentinel, cluster: startStormCluster };

/** The real processes of Tallyport: 2 web, 2 workers, a scheduler, MongoDB and Redis. */
export type Processes = {
  /** The addresses for the test itself. */
  config: ConnectedConfig;
  urls: string[];
  web: PlatformProcess[];
  workers: PlatformProcess[];
  scheduler: PlatformProcess;
  mongod: StormService;
  redis: StormService;
  /** Each process that ended without being killed on purpose. */
  crashes: string[];
  /** Starts what does not run, resumes what is stopped, and restores every line. */
  mend(): Promise<void>;
  /** Waits until both web processes are ready. */
  untilReady(): Promise<void>;
  close(): Promise<void>;
};

/** The environment of the processes. */
export const ENVIRONMENT = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'error',
  SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
  ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
  DESTINATION_LIMIT: '1000000',
  ACCOUNT_LIMIT: '1000000',
  METRICS_PORT: '0',
};

/** Faults in a storm last seconds, not hours, so the schedules are short too. */
export const SHORT_SCHEDULES = {
  LISTENER_TIMEOUT_MS: '1000',
  LEASE_MS: '6000',
  RELAY_INTERVAL_MS: '500',
  DELIVERY_SCHEDULE: '0s,0.5s,1s,2s,3s,5s',
  BREAKER_SCHEDULE: '0.5s,1s,2s,3s',
};

const READY_TIMEOUT_MS = 60 * SECOND;

/** Starts all of it on free ports and a fresh folder. `schedules` are the settings of times. */
export async function startProcesses(
  binaries: { mongod: Binary; redis: Binary },
  topology: Topology,
  schedules: Variables = SHORT_SCHEDULES,
): Promise<Processes> {
  const environment = { ...ENVIRONMENT, ...schedules };
  const folder = await mkdtemp(join(tmpdir(), 'tallyport-storm-'));
  const crashes: string[] = [];
  const died = (what: string) => void crashes.push(what);
  const mongodArgs = (topology.mongodParameters ?? []).flatMap((parameter) => ['--setParameter', parameter]);
  const [mongod, redis] = await Promise.all([
    MONGODS[topology.mongod]({ binary: binaries.mongod, folder, died, args: mongodArgs }),
    REDISES[topology.redis]({ binary: binaries.redis, folder, died }),
  ]);
  const config = loadConfig({
    ...environment,
    MONGODB_URI: mongod.address,
    REDIS_URL: redis.address,
  }) as ConnectedConfig;
  await migrate(config, createLogger({ LOG_LEVEL: 'error' }, 'storm'));

  async function member(path: string, more: Record<string, string> = {}): Promise<PlatformProcess> {
    const [toMongod, toRedis] = await Promise.all([mongod.connect(), redis.connect()]);
    const own = {
      ...ownEnvironment(),
      ...environment,
      ...more,
      MONGODB_URI: toMongod.address,
      REDIS_URL: toRedis.address,
    };
    return { ...program(path, own, died), toMongod: toMongod.line, toRedis: toRedis.line };
  }
  const ports = [await freePort(), await freePort()];
  const web = await Promise.all(ports.map((port) => member('src/web.ts', { PORT: String(port) })));
  const workers = await Promise.all([member('workers/main.ts'), member('workers/main.ts')]);
  const scheduler = await member('workers/scheduler.ts');
  const members = [...web, ...workers, scheduler];
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
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
      for (const one of members) one.resume();
      await Promise.all([mongod.mend(), redis.mend()]);
      await Promise.all(members.map((one) => one.start()));
    },
    untilReady: async () => void (await Promise.all(urls.map(untilReady))),
    async close() {
      await Promise.all(members.map((one) => one.kill()));
      await Promise.all([mongod.close(), redis.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
  await processes.mend();
  await processes.untilReady();
  return processes;
}

/** Waits until `/readyz` answers 200. */
export async function untilReady(url: string): Promise<void> {
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
