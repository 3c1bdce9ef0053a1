import type { Clock } from '../../src/platform/clock.ts';
import { type ConnectedConfig, loadConfig } from '../../src/platform/config.ts';
import { createLogger } from '../../src/platform/log.ts';
import type { OpenOptions } from '../../src/platform/resources.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { type StartWork, startProcess } from '../../src/process/process.ts';
import { buildScheduler } from '../../workers/build-scheduler.ts';
import { buildWorkers, WORKER_OPTIONS } from '../../workers/build-workers.ts';
import { atTheEnd } from './at-the-end.ts';
import { collectLines, type LogLines } from './log-lines.ts';
import { environmentOf } from './process-environment.ts';
import { onPooledMongo } from './test-deps.ts';

/** A worker or scheduler in this process, with connections of its own to Redis; stopped at the latest when the test ends. */
export type RunningWorker = Pick<LogLines, 'lines' | 'waitForEvent'> & {
  /** The owner id of its leases and attempts. */
  processId: string;
  /** Stops it as SIGTERM does, and waits for its end. `process.stopping` is logged at once. */
  stop(): Promise<void>;
};

type Options = {
  /** Changes of the environment that is derived from the configuration. */
  env?: Record<string, string>;
  /** The queues that it works on, as on the command line. Empty: all queues. */
  args?: string[];
  /** The clock; by default the machine's. */
  clock?: Clock;
};

/** Starts what `workers/main.ts` starts, and throws what that throws. */
export function startWorker(config: ConnectedConfig, options: Options = {}): Promise<RunningWorker> {
  const start: StartWork = (deps, { metrics }) => buildWorkers(deps, { metrics, queues: options.args ?? [] });
  return startHere('worker', start, config, { ...options, open: WORKER_OPTIONS });
}

/** Starts what `workers/scheduler.ts` starts. */
export function startScheduler(
  config: ConnectedConfig,
  options: Omit<Options, 'args'> = {},
): Promise<RunningWorker> {
  return startHere('scheduler', buildScheduler, config, options);
}

async function startHere(
  name: string,
  start: StartWork,
  config: ConnectedConfig,
  { env = {}, clock, open = {} }: Options & { open?: OpenOptions },
): Promise<RunningWorker> {
  const own = loadConfig({ ...environmentOf(config), METRICS_PORT: '0', LOG_LEVEL: 'info', ...env });
  const { lines, add, end, waitForEvent } = collectLines();
  const log = createLogger(own, name, { write: add });
  const pooled = await onPooledMongo(own as ConnectedConfig);
  const opened = await openAppDeps(own as ConnectedConfig, name, { ...open, ...pooled, log });
  const deps = clock ? { ...opened, clock } : opened;
  const stopping = new AbortController();
  const running = await startProcess(name, deps, start, stopping.signal);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopping.abort();
    stopped ??= running.close().then(end);
    return stopped;
  };
  atTheEnd(stop);
  return { processId: deps.processId, lines, waitForEvent, stop };
}
