import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../platform/clock.ts';
import type { Binary } from './binary.ts';
import { freePort } from './free-port.ts';
import type { Running } from './keep-running.ts';
import { ServiceError } from './service-error.ts';

/** How long a service may take until it answers. mongod may have to replay its journal. */
const START_TIMEOUT_MS = 60 * SECOND;
const STOP_TIMEOUT_MS = 20 * SECOND;
const PORT_ATTEMPTS = 5;

export type ServiceKind = {
  title: string;
  args(dataDir: string, port: number): string[];
  /** Throws or returns undefined while no process answers on this loopback port. */
  answeringPid(port: number): Promise<number | undefined>;
  /** What the service says of damaged data; absent if its data may not be deleted. */
  damaged?: RegExp;
  address(port: number): string;
};

export type ServiceProcess = Running & { pid: number; port: number };

/**
 * Starts a service on loopback and waits until it answers. Its data is in `dir`/data, its output in `dir`/log, that of
 * the previous run in `dir`/log.before. It has its own process group, so that Ctrl-C in the terminal does not stop it
 * before the processes that use it.
 *
 * @param port - if absent, a free one is chosen
 * @param onSpawn - called before the service answers: the caller records the process, so that the next start finds it
 *   if ours crashes
 * @throws {ServiceError} if the service cannot be run, exits during its start or does not answer within 60 s; nothing
 *   is left running then
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
      const message = await lastLogError(join(options.dir, 'log'));
      // If another process took the port after our check: try again with another port.
      const portTaken = options.port === undefined && /address already in use/i.test(message);
      if (portTaken && attempt < PORT_ATTEMPTS) continue;
      const mayDelete = kind.damaged?.test(message) ? ` Delete ${dataDir}: it holds no votes.` : '';
      if (error instanceof ServiceError)
        throw new ServiceError(`${`${error.message}. ${message}`.trim()}${mayDelete}`);
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
  await rename(logPath, `${logPath}.before`).catch(() => undefined);
  const log = await open(logPath, 'w', 0o600);
  let service: { pid: number | undefined; ended: Promise<string> };
  try {
    const child = spawn(binary.path, kind.args(dataDir, port), {
      detached: true,
      cwd: dataDir,
      stdio: ['ignore', log.fd, log.fd],
    });
    // `exitOf` is called before the first `await`, so that an immediate exit is not missed.
    const ended = exitOf(child);
    if (child.pid !== undefined) endWithThisProcess(child, child.pid);
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

/** How the process exited. A failed start counts as an exit. */
export function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
}

async function untilAnswering(kind: ServiceKind, binary: Binary, service: ServiceProcess): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    // If another process listens on that port, it answers too: only the process id shows whether it is our service.
    const answering = await kind.answeringPid(service.port).catch(() => undefined);
    if (!living.has(service.pid)) {
      const how = await service.ended;
      throw new ServiceError(`${kind.title} (${binary.path}) exited during its start: ${how}`);
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
  // A suspended process handles SIGTERM only after SIGCONT.
  process.kill(pid, 'SIGCONT');
  const timer = setTimeout(() => process.kill(pid, 'SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

/**
 * The ids of services of this process that still run. As long as Node has not seen the exit of a child, the system does
 * not give its id to another process, so signals always reach the right one.
 */
const living = new Set<number>();

/** Stops the service when this process exits without closing it, for example after an uncaught error. */
function endWithThisProcess(child: ChildProcess, pid: number): void {
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

/** The line in a service's log that most likely says why it exited. */
async function lastLogError(logPath: string): Promise<string> {
  const lines = (await readFile(logPath, 'utf8').catch(() => '')).trim().split('\n');
  const cause = lines.findLast((line) =>
    /error|fatal|address already in use|bad file format|can't|"s":"[EF]"/i.test(line),
  );
  return (cause ?? lines.at(-1) ?? '').slice(0, 500);
}
