import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { findRedis } from '../../src/own-services/find-redis.ts';
import { freePort } from '../../src/own-services/free-port.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { type ConnectedConfig, loadConfig } from '../../src/platform/config.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { type AppDeps, openAppDeps } from '../../src/process/app-deps.ts';
import { startMongod, startRedis } from '../../test/support/services.ts';

/** A running and ready process of the platform. */
export type Program = {
  pid: number;
  url: string;
  metricsUrl: string;
  /** Resolves when the process has ended for any reason. */
  ended: Promise<void>;
  stop(): Promise<void>;
};

/** Called with the id of a process right after its start, for instance to limit its memory. */
type Started = (pid: number) => void;

/** A platform on new services, whose processes are started one by one. */
export type Environment = {
  deps: AppDeps;
  /** The settings of its processes. */
  env: Record<string, string | undefined>;
  mongodPid: number;
  redisPid: number;
  web(env?: Record<string, string>, started?: Started): Promise<Program>;
  worker(env?: Record<string, string>): Promise<Program>;
  /** Starts another program of this repository, which reads its ports from PORT and METRICS_PORT. */
  program(path: string, env?: Record<string, string>): Promise<Program>;
  /** Stops every process and service. */
  close(): Promise<void>;
};

const READY_TIMEOUT_MS = 60 * SECOND;

/**
 * Starts mongod and Redis and migrates the database. The settings are those of production, except that listeners on
 * loopback are allowed.
 */
export async function openEnvironment(changes: Record<string, string> = {}): Promise<Environment> {
  const own = ownEnvironment();
  const quiet = () => undefined;
  const mongod = await startMongod({ binary: await findMongod(own, quiet), onDisk: true });
  const redis = await startRedis({ binary: await findRedis(own, quiet), onDisk: true });
  const env = {
    ...own,
    NODE_ENV: 'production',
    MONGODB_URI: `${mongod.uri}/bench`,
    REDIS_URL: redis.url,
    SECRET_KEY: 'k3y-for-benches-0123456789-abcdefghi',
    ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
    DESTINATION_LIMIT: '1000000',
    ACCOUNT_LIMIT: '1000000',
    CONNECTIONS_PER_ADDRESS: '0',
    PROBES: 'off',
    LOG_LEVEL: 'info',
    ...changes,
  };
  const config = loadConfig({ ...env, LOG_LEVEL: 'error' }) as ConnectedConfig;
  const deps = await openAppDeps(config, 'bench', { mongoOperationMs: 0 });
  await migrateDatabase(deps.mongo);
  const running: Program[] = [];
  const note = async (program: Promise<Program>) => {
    running.push(await program);
    return program;
  };
  return {
    deps,
    env,
    mongodPid: mongod.pid(),
    redisPid: redis.pid(),
    web: (more = {}, started) => note(start('src/web.ts', { ...env, ...more }, started)),
    program: (path, more = {}) => note(start(path, { ...env, ...more })),
    worker: (more = {}) => note(start('workers/main.ts', { ...env, ...more })),
    async close() {
      await Promise.all(running.map((program) => program.stop()));
      await deps.close();
      await redis.stop();
      await mongod.stop();
    },
  };
}

async function start(
  path: string,
  env: Record<string, string | undefined>,
  started?: Started,
): Promise<Program> {
  const entry = fileURLToPath(new URL(`../../${path}`, import.meta.url));
  const [port, metricsPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [entry], {
    env: { ...env, PORT: String(port), METRICS_PORT: String(metricsPort) },
    // The process logs as in production, but the log is discarded.
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (child.pid) started?.(child.pid);
  const ended = once(child, 'exit').then(() => undefined);
  // A web process opens its own port last, so wait for that one.
  await untilReady(child, path === 'src/web.ts' ? port : metricsPort);
  return {
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${port}`,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    ended,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function untilReady(child: ChildProcess, port: number): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    if (answer?.ok) return;
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('a process did not become ready');
    await pause(50);
  }
}

/** Linux counts CPU time in hundredths of a second. */
export const TICKS_A_SECOND = 100;

/** The CPU time of a process so far, in seconds. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The second field is the name in brackets. It may contain any character, so the fields are counted after the last
  // bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

/** The memory of a process, in MB. */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}
