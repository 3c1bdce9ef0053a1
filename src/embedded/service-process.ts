import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../platform/clock.ts';
import type { Binary } from './binary.ts';
import type { Running } from './keep-running.ts';
import { ServiceError } from './service-error.ts';

/** How long a service may take until it answers: mongod may have a journal to replay. */
const START_TIMEOUT_MS = 60 * SECOND;
/** How long a service may take to write its data and end. */
const STOP_TIMEOUT_MS = 20 * SECOND;
const PORT_ATTEMPTS = 5;

/** What tells one kind of service from another. */
export type ServiceKind = {
  /** As users know it: `MongoDB`, `Redis`. */
  title: string;
  /** The command line for a data folder and a port. */
  args(dataDir: string, port: number): string[];
  /** The id of the process that answers on this loopback port; throws or gives undefined while none does. */
  answeringPid(port: number): Promise<number | undefined>;
  /** The address for clients, without the name of a database. */
  address(port: number): string;
};

/** A running mongod or Redis that this process started. Asked to stop, it writes its data first. */
export type ServiceProcess = Running & { pid: number; port: number };

/**
 * Starts a service on loopback and waits until it answers. It keeps its data in `dir`/data and its words in
 * `dir`/log, those of the run before in `dir`/log.before. It runs in a process group of its own, so that
 * Ctrl-C in the terminal does not end it before those who use it.
 *
 * @param port - a free one is chosen when absent
 * @param onSpawn - told each process before it answers, so that a crash of ours leaves a trace of it
 * @throws {ServiceError} when it ends at once or does not answer within 60 s; nothing is left running then.
 */
export async function startService(
  kind: ServiceKind,
  options: {
    binary: Binary;
    dir: string;
    port?: number;
    onSpawn?: (pid: number, port: number) => Promise<void>;
  },
): Promise<ServiceProcess> {
  const dataDir = join(options.dir, 'data');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    const service = await spawnService(kind, options.binary, dataDir, join(options.dir, 'log'), port);
    try {
      await options.onSpawn?.(service.pid, port);
      await untilAnswering(kind, options.binary, service);
      return service;
    } catch (error) {
      await service.stop();
      const words = await lastWords(join(options.dir, 'log'));
      // Another process may take the port between our look and the service's.
      const portTaken = options.port === undefined && /address already in use/i.test(words);
      if (portTaken && attempt < PORT_ATTEMPTS) continue;
      if (error instanceof ServiceError) throw new ServiceError(`${error.message}. ${words}`.trim());
      throw error;
    }
  }
}

async function spawnService(
  kind: ServiceKind,
  binary: Binary,
  dataDir: string,
  logPath: string,
  port: number,
): Promise<ServiceProcess> {
  // The words of the run before this one stay: they say how it ended.
  await rename(logPath, `${logPath}.before`).catch(() => undefined);
  const log = await open(logPath, 'w', 0o600);
  let service: { pid: number | undefined; ended: Promise<string> };
  try {
    const child = spawn(binary.path, kind.args(dataDir, port), {
      detached: true,
      cwd: dataDir,
      stdio: ['ignore', log.fd, log.fd],
    });
    // Before anything is awaited: a service that ends at once is seen to end.
    const ended = endOf(child);
    if (child.pid !== undefined) takeAlong(child, child.pid);
    service = { pid: child.pid, ended };
  } finally {
    await log.close();
  }
  const { pid, ended } = service;
  if (pid === undefined)
    throw new ServiceError(`${kind.title} (${binary.path}) cannot be run: ${await ended}`);
  return {
    pid,
    port,
    ended,
    stop: () => endProcess(pid, ended),
    kill() {
      if (living.has(pid)) process.kill(pid, 'SIGKILL');
    },
  };
}

/** How the process ended, in words; an error of its start counts as an end. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
}

async function untilAnswering(kind: ServiceKind, binary: Binary, service: ServiceProcess): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    // Somebody else may answer on that port: only our own process counts.
    const answering = await kind.answeringPid(service.port).catch(() => undefined);
    if (!living.has(service.pid)) {
      const how = await service.ended;
      throw new ServiceError(`${kind.title} (${binary.path}) ended at its start: ${how}`);
    }
    if (answering === service.pid) return;
    await pause(20);
  }
  throw new ServiceError(
    `${kind.title} (${binary.path}) did not answer within ${START_TIMEOUT_MS / SECOND} s`,
  );
}

async function endProcess(pid: number, ended: Promise<string>): Promise<void> {
  if (!living.has(pid)) return;
  process.kill(pid, 'SIGTERM');
  // A stopped process would not hear the first signal.
  process.kill(pid, 'SIGCONT');
  const timer = setTimeout(() => process.kill(pid, 'SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

/** Services of this process. A child keeps its number until Node has seen its end: signals reach no other. */
const living = new Set<number>();

/** A process of ours that ends without closing its services (an uncaught error) takes them along. */
function takeAlong(child: ChildProcess, pid: number): void {
  if (living.size === 0) process.once('exit', endLiving);
  living.add(pid);
  child.once('exit', () => {
    living.delete(pid);
    if (living.size === 0) process.off('exit', endLiving);
  });
}

function endLiving(): void {
  for (const pid of living) process.kill(pid, 'SIGTERM');
}

/** A loopback port that is free at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string')
    throw new ServiceError('No free port was found on 127.0.0.1');
  return address.port;
}

/** The line of a service's log that says why it ended, as far as it can be told. */
async function lastWords(logPath: string): Promise<string> {
  const lines = (await readFile(logPath, 'utf8').catch(() => '')).trim().split('\n');
  const cause = lines.findLast((line) =>
    /error|fatal|address already in use|bad file format|can't|"s":"[EF]"/i.test(line),
  );
  return (cause ?? lines.at(-1) ?? '').slice(0, 500);
}
