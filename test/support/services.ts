import { readdirSync, readFileSync } from 'node:fs';
import { inject, vi } from 'vitest';
import type { Binary } from '../../src/own-services/binary.ts';
import { freePort } from '../../src/own-services/free-port.ts';
import { MONGOD } from '../../src/own-services/mongod.ts';
import { REDIS } from '../../src/own-services/redis-server.ts';
import { type ServiceKind, startService } from '../../src/own-services/service-process.ts';
import { EVENTUALLY } from './eventually.ts';
import { noteService, ownedFolder } from './service-folders.ts';

/** A mongod or Redis for one test file, which may kill and stop it. */
export type TestService = {
  port: number;
  /** The id of the current process. It changes with `restart()`. */
  pid(): number;
  /** Stops the service cleanly. Its data stays until the end of the test run, so `restart()` still works. */
  stop(): Promise<void>;
  /** Sends SIGKILL and waits until the process has ended. */
  kill(): Promise<void>;
  /** Sends SIGSTOP and waits until every thread has stopped. Connections stay open, and nothing is answered. */
  pause(): Promise<void>;
  /** Sends SIGCONT. */
  resume(): void;
  /** Restarts the service on the same port with the same data. If it runs, it is stopped first. */
  restart(): Promise<void>;
};

type Options = { port?: number; binary?: Binary; onDisk?: boolean; args?: string[] };

/**
 * Differences from the mongod that the product runs. It closes files that were not used for some seconds, because the
 * databases of a whole run have more files than a process may open. It deletes nothing by age, because tests move the
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
 * Starts a mongod in a fresh folder, on a free port or on `port`. The folder is in memory if there is room, unless
 * `onDisk` is set. `uri` has no database: add `/name`.
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

/** Starts a Redis in a fresh folder, on a free port or on `port`. `args` are added to its command line. */
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

/**
 * Whether all threads have stopped, which takes a moment after the signal. True on systems that do not list threads.
 */
function hasStopped(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  const threads = `/proc/${pid}/task`;
  return readdirSync(threads).every((id) => {
    const stat = readFileSync(`${threads}/${id}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')')).startsWith(') T');
  });
}
