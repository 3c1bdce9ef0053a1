import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../clock.ts';
import type { Binary } from './binary.ts';
import { ServiceError } from './service-error.ts';

/** How long a service may take until it answers: mongod may have a journal to replay. */
const START_TIMEOUT_MS = 60 * SECOND;
/** How long a service may take to write its data and end. */
const STOP_TIMEOUT_MS = 20 * SECOND;
const PORT_ATTEMPTS = 5;

/** What tells one kind of service from another. */
export type ServiceKind = {
  /** As people know it: `MongoDB`, `Redis`. */
  title: string;
  /** The command line for a data folder and a port. */
  args(dataDir: string, port: number): string[];
  /** The id of the process that answers on this loopback port; throws or gives undefined while none does. */
  answeringPid(port: number): Promise<number | undefined>;
  /** The address for clients. */
  address(port: number): string;
};

/** A running mongod or Redis that this process started. */
export type ServiceProcess = {
  binary: Binary;
  pid: number;
  port: number;
  /** `mongodb://…` or `redis://…` */
  address: string;
  /** Settles when the process has ended, for whatever reason, with a few words that say how. */
  ended: Promise<string>;
  /** Asks the process to write its data and end; SIGKILL after 20 s. */
  stop(): Promise<void>;
};

/**
 * Starts a service on loopback and waits until it answers. It keeps its data in `dir`/data and its words in
 * `dir`/log. It runs in a process group of its own, so that Ctrl-C in the terminal does not end it before
 * those who use it.
 *
 * @param port - a free one is chosen when absent
 * @param onSpawn - told each process before it answers, so that a crash of ours leaves a trace of it
 * @throws {ServiceError} when it ends at once or does not answer within 60 s; nothing is left running then.
 */
export async function startService(
  kind: ServiceKind,
  options: { binary: Binary; dir: string; port?: number; onSpawn?: (pid: number, port: number) => Promise<void> },
): Promise<ServiceProcess> {
  const dataDir = join(options.dir, 'data');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    const service = await spawnService(kind, options.binary, dataDir, join(options.dir, 'log'), port);
    try {
      await options.onSpawn?.(service.pid, port);
      await untilAnswering(kind, service);
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

async function spawnService(kind: ServiceKind, binary: Binary, dataDir: string, logPath: string, port: number) {
  const log = await open(logPath, 'w', 0o600);
  let child: ChildProcess;
  try {
    child = spawn(binary.path, kind.args(dataDir, port), {
      detached: true,
      cwd: dataDir,
      stdio: ['ignore', log.fd, log.fd],
    });
  } finally {
    await log.close();
  }
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
  const { pid } = child;
  if (pid === undefined) throw new ServiceError(`${kind.title} (${binary.path}) cannot be run: ${await ended}`);
  endOnExit(pid, ended);
  return {
    binary,
    pid,
    port,
    address: kind.address(port),
    ended,
    stop: () => endProcess(pid, ended),
  };
}

async function untilAnswering(kind: ServiceKind, service: ServiceProcess): Promise<void> {
  let end: string | undefined;
  void service.ended.then((how) => {
    end = how;
  });
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    // Somebody else may answer on that port: only our own process counts.
    const pid = await kind.answeringPid(service.port).catch(() => undefined);
    if (pid === service.pid && end === undefined) return;
    if (end !== undefined) throw new ServiceError(`${kind.title} (${service.binary.path}) ended at its start: ${end}`);
    await pause(20);
  }
  throw new ServiceError(`${kind.title} (${service.binary.path}) did not answer within ${START_TIMEOUT_MS / SECOND} s`);
}

async function endProcess(pid: number, ended: Promise<string>): Promise<void> {
  // A child of ours keeps its number until Node has seen its end, so the signals reach no other process.
  let over = false;
  const end = ended.then(() => {
    over = true;
  });
  await Promise.race([end, pause(0)]);
  if (over) return;
  process.kill(pid, 'SIGTERM');
  process.kill(pid, 'SIGCONT');
  const timer = setTimeout(() => process.kill(pid, 'SIGKILL'), STOP_TIMEOUT_MS);
  await end;
  clearTimeout(timer);
}

const living = new Set<number>();

/** A process of ours that ends without closing its services (an uncaught error) takes them along. */
function endOnExit(pid: number, ended: Promise<string>): void {
  if (living.size === 0) process.once('exit', endLiving);
  living.add(pid);
  void ended.then(() => {
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
  if (address === null || typeof address === 'string') throw new ServiceError('No free port was found on 127.0.0.1');
  return address.port;
}

/** The line of a service's log that says why it ended, as far as it can be told. */
async function lastWords(logPath: string): Promise<string> {
  const lines = (await readFile(logPath, 'utf8').catch(() => '')).trim().split('\n');
  const cause = lines.findLast((line) => /error|fatal|address already in use|bad file format|can't|"s":"[EF]"/i.test(line));
  return (cause ?? lines.at(-1) ?? '').slice(0, 500);
}
