import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../own-services/free-port.ts';
import { keepRunning, type Running } from '../own-services/keep-running.ts';
import { openServices } from '../own-services/open-services.ts';
import { type Say, ServiceError } from '../own-services/service-error.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';
import type { Config, ConnectedConfig } from '../platform/config.ts';
import { ownEnvironment, type Variables } from '../platform/environment.ts';
import { hostAndPort } from '../platform/host-and-port.ts';
import { startChild } from './child.ts';
import { migrateWhenRestored } from './migrate-restored.ts';
import { requirePortsFree } from './ports.ts';

const READY_TIMEOUT_MS = MINUTE;

const PROCESSES = [
  { name: 'web', entry: '../web.ts' },
  { name: 'worker', entry: '../../workers/main.ts' },
  { name: 'scheduler', entry: '../../workers/scheduler.ts' },
];

/** A running platform: web, worker and scheduler, and the services that were started for them. */
export type AllInOne = {
  /** The given configuration, with the addresses of the services, SECRET_KEY and, if PORT was 0, the chosen port. */
  config: ConnectedConfig;
  /** The address of the web process: PUBLIC_URL. */
  url: string;
  /** Stops the processes, each within 20 s, then the services; settles when all have exited. */
  stop(): Promise<void>;
  /** Kills everything at once; the next start stops left-over processes. */
  kill(): void;
};

type StartOptions = {
  log: Say;
  /** The environment from which `given` was loaded; the processes get it too. */
  env?: Variables;
  /** If the signal aborts during the start, the processes are stopped, and the promise rejects with its reason. */
  signal?: AbortSignal;
};

/**
 * Starts the whole platform on this machine and waits until its web process is ready. If a restore into the database is
 * unfinished, it first waits until the restore has ended. If a process exits by itself later, it is restarted.
 *
 * @throws {ServiceError} if a part is missing or does not start; everything is stopped then.
 */
export async function startAllInOne(given: Config, options: StartOptions): Promise<AllInOne> {
  const { log, env = ownEnvironment(), signal } = options;
  const aborted = whenAborted(signal);
  const services = await Promise.race([openServices(await withPort(given), log, env), aborted]);
  const { config } = services;
  const children: Omit<Running, 'ended'>[] = [];
  const allInOne: AllInOne = {
    config,
    url: config.PUBLIC_URL,
    async stop() {
      await Promise.all(children.map((child) => child.stop()));
      await services.close();
    },
    kill() {
      for (const child of children) child.kill();
      services.kill();
    },
  };
  try {
    for (const line of services.description) log(line);
    const metricsPorts = await requirePortsFree(config);
    const { created, migrations } = await Promise.race([migrateWhenRestored(config, log), aborted]);
    if (created.length > 0)
      log(`The database is prepared: ${created.length} collections and indexes were made`);
    if (migrations.length > 0) log(`Migrations that were run: ${migrations.join(', ')}`);
    const parts = PROCESSES.map(({ name, entry }, index) => {
      const path = fileURLToPath(new URL(entry, import.meta.url));
      const childEnv = { ...env, ...childVariables(config, metricsPorts[index] ?? 0) };
      const start = () => startChild(path, childEnv);
      const first = start();
      children.push(first);
      return { name, start, first };
    });
    const ends = parts.map(({ name, first }) => endedEarly(name, first));
    await Promise.race([untilReady(config), aborted, ...ends]);
    children.splice(
      0,
      Infinity,
      ...parts.map(({ name, start, first }) => keepRunning(name, first, async () => start(), log)),
    );
    return allInOne;
  } catch (error) {
    await allInOne.stop();
    throw error;
  }
}

/** Rejects with the signal's reason when the signal aborts. */
function whenAborted(signal: AbortSignal | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  // Without this handler, an abort while nobody awaits the promise would be an unhandled rejection.
  promise.catch(() => undefined);
  return promise;
}

/** If PORT is 0: replaces it with a free port, in PUBLIC_URL too, so that the address can be printed. */
async function withPort(config: Config): Promise<Config> {
  if (config.PORT !== 0) return config;
  const PORT = await freePort();
  return { ...config, PORT, PUBLIC_URL: config.PUBLIC_URL.replace(/:0(?=\/|$)/, `:${PORT}`) };
}

/** The variables of a child process that this file determines. They replace those of our own environment. */
function childVariables(config: ConnectedConfig, metricsPort: number): Variables {
  const { MONGODB_URI, REDIS_URL, SECRET_KEY, PUBLIC_URL, PORT } = config;
  return {
    MONGODB_URI,
    REDIS_URL,
    SECRET_KEY,
    // A process refuses a secret that is given both as a variable and as a file, so the file variables are empty. An
    // empty value also overrides one of `.env`.
    MONGODB_URI_FILE: '',
    REDIS_URL_FILE: '',
    SECRET_KEY_FILE: '',
    PUBLIC_URL,
    PORT: String(PORT),
    METRICS_PORT: String(metricsPort),
    // Node resolves host names in this thread pool. With the default of four threads, a few name servers that do not
    // answer would delay every listener.
    UV_THREADPOOL_SIZE: '64',
    // The delay lets a load balancer choose another web process before the shutdown. Here, there is only one.
    SHUTDOWN_DELAY_MS: '0',
  };
}

/** Rejects when the process exits, for any reason. */
async function endedEarly(name: string, { ended }: Running): Promise<never> {
  throw new ServiceError(
    `The ${name} process exited during its start (${await ended}). See its output for the reason.`,
  );
}

async function untilReady({ HOST, PORT }: Config): Promise<void> {
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[HOST] ?? HOST;
  const address = `http://${hostAndPort(host, PORT)}/readyz`;
  const deadline = Date.now() + READY_TIMEOUT_MS;
  let last = 'it does not answer';
  while (Date.now() < deadline) {
    try {
      const response = await fetch(address, { signal: AbortSignal.timeout(5 * SECOND) });
      if (response.status === 200) return;
      last = await response.text();
    } catch {
      // The web process does not listen yet, or did not answer in time.
    }
    await pause(50);
  }
  throw new ServiceError(`The web process was not ready within ${READY_TIMEOUT_MS / SECOND} s: ${last}`);
}
