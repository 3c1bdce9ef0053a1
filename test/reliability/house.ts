import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SECOND } from '../../src/clock.ts';
import { type ConnectedConfig, loadConfig, ownEnvironment } from '../../src/config.ts';
import type { Binary } from '../../src/embedded/binary.ts';
import { MONGOD } from '../../src/embedded/mongod.ts';
import { REDIS } from '../../src/embedded/redis-server.ts';
import { freePort, type ServiceKind, startService } from '../../src/embedded/service-process.ts';
import { createLogger } from '../../src/log.ts';
import { migrate } from '../../src/migrate.ts';

/** A process that a storm may end at any moment. */
export type Inmate = {
  /** Starts it unless it runs. */
  start(): Promise<void>;
  /** SIGKILL; waits for its end. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT; nothing happens to one that does not run. */
  stop(): void;
  goOn(): void;
};

/** The real processes of a platform: 2 web, 2 workers, a scheduler, mongod and Redis. */
export type House = {
  config: ConnectedConfig;
  urls: string[];
  web: Inmate[];
  workers: Inmate[];
  scheduler: Inmate;
  mongod: Inmate;
  redis: Inmate;
  /** Starts what does not run and lets go on what is stopped; waits until both web processes are ready. */
  mend(): Promise<void>;
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
export async function openHouse(binaries: { mongod: Binary; redis: Binary }): Promise<House> {
  const folder = await mkdtemp(join(tmpdir(), 'tallyport-storm-'));
  const [mongoPort, redisPort, ...webPorts] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const mongod = service(MONGOD, binaries.mongod, join(folder, 'mongod'), mongoPort);
  const redis = service(REDIS, binaries.redis, join(folder, 'redis'), redisPort);
  const env = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'error',
    MONGODB_URI: `${MONGOD.address(mongoPort)}/storm?directConnection=true`,
    REDIS_URL: REDIS.address(redisPort),
    SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
    ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
    METRICS_PORT: '0',
    ...QUICK,
  };
  const config = loadConfig(env) as ConnectedConfig;
  await Promise.all([mongod.start(), redis.start()]);
  await migrate(config, createLogger({ LOG_LEVEL: 'error' }, 'storm'));

  const own = { ...ownEnvironment(), ...env };
  const web = webPorts.map((port) => program('src/server.ts', { ...own, PORT: String(port) }));
  const workers = [1, 2].map(() => program('workers/main.ts', own));
  const scheduler = program('workers/scheduler.ts', own);
  const urls = webPorts.map((port) => `http://127.0.0.1:${port}`);
  const programs = [...web, ...workers, scheduler];
  const house: House = {
    config,
    urls,
    web,
    workers,
    scheduler,
    mongod,
    redis,
    async mend() {
      for (const one of [mongod, redis, ...programs]) one.goOn();
      await Promise.all([mongod.start(), redis.start()]);
      await Promise.all(programs.map((one) => one.start()));
      await Promise.all(urls.map(untilReady));
    },
    async close() {
      await Promise.all(programs.map((one) => one.kill()));
      await Promise.all([mongod.kill(), redis.kill()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
  await house.mend();
  return house;
}

function service(kind: ServiceKind, binary: Binary, dir: string, port: number): Inmate {
  let running: Awaited<ReturnType<typeof startService>> | undefined;
  let starting: Promise<void> | undefined;
  const launch = async () => {
    running = await startService(kind, { binary, dir, port });
  };
  const signal = (name: NodeJS.Signals) => {
    if (running) process.kill(running.pid, name);
  };
  return {
    start() {
      if (running) return Promise.resolve();
      starting ??= launch().finally(() => {
        starting = undefined;
      });
      return starting;
    },
    async kill() {
      await starting;
      const killed = running;
      if (!killed) return;
      running = undefined;
      process.kill(killed.pid, 'SIGKILL');
      await killed.ended;
    },
    stop: () => signal('SIGSTOP'),
    goOn: () => signal('SIGCONT'),
  };
}

function program(path: string, env: Record<string, string | undefined>): Inmate {
  const entry = fileURLToPath(new URL(`../../${path}`, import.meta.url));
  let child: ChildProcess | undefined;
  return {
    async start() {
      if (child && child.exitCode === null && child.signalCode === null) return;
      child = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    },
    async kill() {
      const killed = child;
      child = undefined;
      if (!killed || killed.exitCode !== null || killed.signalCode !== null) return;
      killed.kill('SIGKILL');
      await once(killed, 'exit');
    },
    stop: () => void child?.kill('SIGSTOP'),
    goOn: () => void child?.kill('SIGCONT'),
  };
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
