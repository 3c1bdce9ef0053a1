import { fork } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, listenErrorOf } from '../own-services/free-port.ts';
import { keepRunning, type Running } from '../own-services/keep-running.ts';
import { type OpenServices, openServices } from '../own-services/open-services.ts';
import { type Say, ServiceError } from '../own-services/service-error.ts';
import { exitOf } from '../own-services/service-process.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';
import type { Config, ConnectedConfig } from '../platform/config.ts';
import { ownEnvironment, type Variables } from '../platform/environment.ts';
import { hostAndPort } from '../platform/host-and-port.ts';
import { AWAITS_VARIABLES } from '../platform/variables-of-parent.ts';
import type { FromPreparation } from './prepare.ts';

const READY_TIMEOUT_MS = MINUTE;

/**
 * A process that needs more refuses requests before, and is started again. With V8's own bounds a busy web process has
 * 630 MB, with these 300, and is as fast (docs/performance.md). The operator's options win.
 */
const HEAP = '--max-old-space-size=400 --max-semi-space-size=8';

const PROCESSES = [
  { name: 'web', entry: '../web.ts' },
  { name: 'worker', entry: '../../workers/main.ts' },
  { name: 'scheduler', entry: '../../workers/scheduler.ts' },
];

export type AllInOne = {
  /** With the addresses of the services, SECRET_KEY and, if PORT was 0, the chosen port. */
  config: ConnectedConfig;
  url: string;
  /** How to make the first operator; null if it was not asked for, or the site has one. */
  begin: string | null;
  /** Stops the processes, each within 20 s, then the services. */
  stop(): Promise<void>;
  /** Kills everything at once; the next start stops left-over processes. */
  kill(): void;
};

type StartOptions = {
  log: Say;
  env?: Variables;
  signal?: AbortSignal;
  /** Whether `begin` is wanted. */
  saysHowToBegin?: boolean;
};

/** Waits until the web process is ready. If it throws, everything is stopped. */
export async function startAllInOne(given: Config, options: StartOptions): Promise<AllInOne> {
  const { log, env = ownEnvironment(), signal, saysHowToBegin } = options;
  const aborted = whenAborted(signal);
  const preparation = startChild('prepare.ts', env, saysHowToBegin ? ['--how-to-begin'] : []);
  const parts = PROCESSES.map(({ name, entry }) => ({ name, entry, first: startChild(entry, env) }));
  let children: Omit<Running, 'ended'>[] = [preparation, ...parts.map(({ first }) => first)];
  const ends = Promise.race(parts.map(({ name, first }) => endedEarly(`The ${name} process`, first)));
  ends.catch(() => undefined);
  let services: OpenServices | undefined;
  const stop = async () => {
    await Promise.all(children.map((child) => child.stop()));
    await services?.close();
  };
  try {
    services = await Promise.race([openServices(await withPort(given), log, env), aborted, ends]);
    const { config, description, kill } = services;
    for (const line of description) log(line);
    const metricsPorts = await requirePortsFree(config);
    const variablesOf = (index: number) => childVariables(config, metricsPorts[index] ?? 0);
    const begin = await Promise.race([prepare(preparation, variablesOf(0), log), aborted, ends]);
    for (const [index, { first }] of parts.entries()) first.send(variablesOf(index));
    await Promise.race([untilReady(config), aborted, ends]);
    children = parts.map(({ name, entry, first }, index) => {
      const startAgain = async () => {
        const child = startChild(entry, env);
        child.send(variablesOf(index));
        return child;
      };
      return keepRunning(name, first, startAgain, log);
    });
    return {
      config,
      url: config.PUBLIC_URL,
      begin,
      stop,
      kill() {
        for (const child of children) child.kill();
        kill();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @throws {ServiceError} with what the preparation of the database says when it fails */
async function prepare(child: Child, variables: Variables, log: Say): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  child.onMessage((message: FromPreparation) => {
    if ('say' in message) log(message.say);
    else if ('error' in message) reject(new ServiceError(message.error));
    else resolve(message.begin);
  });
  child.send(variables);
  return Promise.race([promise, endedEarly('The process that prepares the database', child)]);
}

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
    // The delay lets a load balancer choose another web process before the shutdown. Here, there is only one.
    SHUTDOWN_DELAY_MS: '0',
  };
}

async function endedEarly(what: string, { ended }: Running): Promise<never> {
  throw new ServiceError(`${what} exited during its start (${await ended}). See its output for the reason.`);
}

async function untilReady({ HOST, PORT }: Config): Promise<void> {
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[HOST] ?? HOST;
  const address = `http://${hostAndPort(host, PORT)}/readyz`;
  const deadline = Date.now() + READY_TIMEOUT_MS;
  let last = 'it does not answer';
  while (Date.now() < deadline) {
    try {
      const signal = AbortSignal.timeout(5 * SECOND);
      // `fetch` would need some 10 MB for as long as this process runs.
      // After the answer has begun, an error also ends its body.
      const asked = get(address, { signal, agent: false }).on('error', () => undefined);
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      const body = await text(answer);
      if (answer.statusCode === 200) return;
      last = body;
    } catch {}
    await pause(50);
  }
  throw new ServiceError(`The web process was not ready within ${READY_TIMEOUT_MS / SECOND} s: ${last}`);
}

/** How long a port in use is tried again: if `npm start` was killed, its child processes close their ports later. */
const PORT_WAIT_MS = 2 * SECOND;

/** Returns the metrics ports of web, worker and scheduler. */
async function requirePortsFree(config: Config): Promise<number[]> {
  const { HOST, PORT, METRICS_HOST, METRICS_PORT } = config;
  if (METRICS_PORT > 65_533) {
    throw new ServiceError(
      `METRICS_PORT is ${METRICS_PORT}, and the worker and the scheduler take the two ports after it: choose 65533 or less.`,
    );
  }
  await requireFree('HOST', HOST, PORT, `set PORT to another number, such as ${PORT + 1}`);
  if (METRICS_PORT === 0) return [0, 0, 0];
  const ports = [METRICS_PORT, METRICS_PORT + 1, METRICS_PORT + 2];
  for (const port of ports) {
    const remedy = 'set METRICS_PORT to another number, or to 0 for any free ports';
    await requireFree('METRICS_HOST', METRICS_HOST, port, remedy);
  }
  return ports;
}

async function requireFree(variable: string, host: string, port: number, remedy: string): Promise<void> {
  const deadline = Date.now() + PORT_WAIT_MS;
  for (;;) {
    const error = await listenErrorOf(host, port);
    if (!error) return;
    if (error === 'EACCES')
      throw new ServiceError(`Port ${port} on ${host} may not be listened on (${error}): ${remedy}.`);
    if (error !== 'EADDRINUSE')
      throw new ServiceError(
        `${host} is no address of this machine that can be listened on (${error}): set ${variable} to one that is, such as 127.0.0.1.`,
      );
    if (Date.now() > deadline)
      throw new ServiceError(`Port ${port} on ${host} is already in use: ${remedy}.`);
    await pause(100);
  }
}

/** A child that has not stopped after this time is killed. Normally it stops within 10 s (design rule 12). */
const STOP_TIMEOUT_MS = 20 * SECOND;

type Child = Running & {
  /** See `awaitVariables`. */
  send(variables: Variables): void;
  onMessage(listener: (message: FromPreparation) => void): void;
};

/**
 * Starts one of our processes as a child, which stops when this process ends: the IPC channel closes (`endWithParent`).
 * It has its own process group: Ctrl-C in the terminal reaches only this process, which stops its children in order.
 */
function startChild(entry: string, env: Variables, args: string[] = []): Child {
  const child = fork(new URL(entry, import.meta.url), args, {
    env: {
      ...env,
      [AWAITS_VARIABLES]: '1',
      // With the default of four threads, a few name servers that do not answer would delay every listener.
      UV_THREADPOOL_SIZE: '64',
      NODE_OPTIONS: `${HEAP} ${env.NODE_OPTIONS ?? ''}`,
    },
    // The child does not get our options of Node, such as `--env-file`: `env` already has the variables.
    execArgv: [],
    detached: true,
    // With pipes, a child of a killed process would write to a closed pipe.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = exitOf(child);
  return {
    ended,
    send: (variables) => void (child.connected && child.send(variables)),
    onMessage: (listener) => void child.on('message', listener),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    },
    kill() {
      child.kill('SIGKILL');
    },
  };
}
