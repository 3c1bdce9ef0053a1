import { readdirSync, readFileSync } from 'node:fs';
import { inject, vi } from 'vitest';
import type { Binary } from '../../src/embedded/binary.ts';
import { freePort } from '../../src/embedded/free-port.ts';
import { MONGOD } from '../../src/embedded/mongod.ts';
import { REDIS } from '../../src/embedded/redis-server.ts';
import { type ServiceKind, startService } from '../../src/embedded/service-process.ts';
import { EVENTUALLY } from './eventually.ts';
import { noteService, ownedFolder } from './service-folders.ts';

/** A mongod or Redis of one test file alone, which may be killed and stopped at will. */
export type TestService = {
  port: number;
  /** The current process; another one after `restart()`. */
  pid(): number;
  /** Stops it cleanly. The data stays until the end of the test run, so `restart()` still works. */
  stop(): Promise<void>;
  /** SIGKILL; waits until the process is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing is answered. Waits until every thread has stopped. */
  pause(): Promise<void>;
  /** SIGCONT */
  resume(): void;
  /** Restarts it on the same port with the same data; stops it first if it runs. */
  restart(): Promise<void>;
};

type Options = { port?: number; binary?: Binary; onDisk?: boolean; args?: string[] };

/**
 * What differs from the mongod that the product runs. It closes files which nobody used for some seconds: the
 * databases of a whole run have more files than a process may hold open. It deletes nothing by age: tests move the
 * product's clock. It writes no diagnostic data.
 */
const TEST_PARAMETERS = [
  'wiredTigerFileHandleCloseIdleTime=10',
  'wiredTigerFileHandleCloseScanInterval=5',
  'wiredTigerFileHandleCloseMinimum=250',
  'ttlMonitorEnabled=false',
  'diagnosticDataCollectionEnabled=false',
];

const TEST_MONGOD: ServiceKind = {
  ...MONGOD,
  args: (dataDir, port) => [
    ...MONGOD.args(dataDir, port),
    ...TEST_PARAMETERS.flatMap((parameter) => ['--setParameter', parameter]),
  ],
};

/**
 * Starts a mongod in a fresh folder, on a free port or on `port`; in memory where there is room, unless `onDisk`. `uri`
 * names no database: add `/name`.
 *
 * @param options - `args` are added to its command line
 */
export async function startMongod(options: Options = {}): Promise<TestService & { uri: string }> {
  const { args = [] } = options;
  const kind = {
    ...TEST_MONGOD,
    args: (dir: string, port: number) => [...TEST_MONGOD.args(dir, port), ...args],
  };
  const service = await start(kind, options.binary ?? inject('mongodBinary'), options);
  return { ...service, uri: MONGOD.address(service.port) };
}

/** Starts a Redis in a fresh folder, on a free port or on `port`; `args` as for a mongod. */
export async function startRedis(options: Options = {}): Promise<TestService & { url: string }> {
  const { args = [] } = options;
  const kind = { ...REDIS, args: (dir: string, port: number) => [...REDIS.args(dir, port), ...args] };
  const service = await start(kind, options.binary ?? inject('redisBinary'), options);
  return { ...service, url: REDIS.address(service.port) };
}

async function start(kind: ServiceKind, binary: Binary, options: Options): Promise<TestService> {
  const port = options.port ?? (await freePort());
  const dir = await ownedFolder(options.onDisk);
  const onSpawn = (pid: number) => noteService(dir, pid);
  const launch = () => startService(kind, { binary, dir, port, onSpawn });
  let running = await launch();
  return {
    port,
    pid: () => running.pid,
    stop: () => running.stop(),
    async kill() {
      process.kill(running.pid, 'SIGKILL');
      await running.ended;
    },
    async pause() {
      process.kill(running.pid, 'SIGSTOP');
      await vi.waitUntil(() => hasStopped(running.pid), EVENTUALLY);
    },
    resume() {
      process.kill(running.pid, 'SIGCONT');
    },
    async restart() {
      await running.stop();
      running = await launch();
    },
  };
}

/** A signal takes a moment to stop all threads; where the system does not list them, none is waited for. */
function hasStopped(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  const threads = `/proc/${pid}/task`;
  return readdirSync(threads).every((id) => {
    const stat = readFileSync(`${threads}/${id}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')')).startsWith(') T');
  });
}
