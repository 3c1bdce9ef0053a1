import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ConnectedConfig } from '../../src/platform/config.ts';
import { collectLines, type LogLines } from './log-lines.ts';
import { hasEnded, spawnOwn } from './own-process.ts';
import { environmentOf } from './process-environment.ts';

/** How a process exited. */
export type ProcessExit = { code: number | null; signal: NodeJS.Signals | null };

/** A worker or scheduler in a separate process, stopped at the end of the test at the latest. */
export type WorkerProcess = Pick<LogLines, 'lines' | 'waitForEvent'> & {
  pid: number;
  /** The owner of its leases, and of the attempts it makes. Throws until it has started. */
  readonly processId: string;
  /** SIGTERM; waits for the exit. */
  stop(): Promise<ProcessExit>;
  /** SIGTERM, without waiting. */
  terminate(): void;
  /** SIGKILL; waits for the exit. */
  kill(): Promise<ProcessExit>;
  /** SIGSTOP: it is suspended in the middle of its work. */
  pause(): void;
  /** SIGCONT */
  resume(): void;
  /** Closes the IPC channel, as if the parent were gone. */
  leave(): void;
  hasEnded(): boolean;
  /** Waits for a requested exit. */
  ended(): Promise<ProcessExit>;
};

type Options = {
  /** Changes of the environment that follows from the configuration. */
  env?: Record<string, string>;
  /** Its command line: the queues to work on. */
  args?: string[];
  /** The log event to wait for; `process.started` by default. */
  until?: string;
};

/** Starts `workers/main.ts` as a process and waits until it runs. Where no process is needed: `startWorker`. */
export function spawnWorker(config: ConnectedConfig, options: Options = {}): Promise<WorkerProcess> {
  return spawnProcess('workers/main.ts', config, options);
}

/** Starts `workers/scheduler.ts` as a process and waits until it runs. */
export function spawnScheduler(config: ConnectedConfig, options: Options = {}): Promise<WorkerProcess> {
  return spawnProcess('workers/scheduler.ts', config, options);
}

async function spawnProcess(
  entry: string,
  config: ConnectedConfig,
  { env = {}, args = [], until = 'process.started' }: Options,
): Promise<WorkerProcess> {
  const settings = { ...environmentOf(config), METRICS_PORT: '0', LOG_LEVEL: 'info', ...env };
  const worker = watch(spawnOwn(entry, settings, args));
  await worker.waitForEvent(until);
  return worker;
}

function watch(child: ChildProcess): WorkerProcess {
  const { lines, add, end, waitForEvent } = collectLines();
  const outputs = [child.stdout, child.stderr].flatMap((stream) => {
    return stream ? [createInterface({ input: stream }).on('line', add)] : [];
  });
  // Not the event `close`: it does not come when the channel was cut from here.
  const ended = Promise.all([once(child, 'exit'), ...outputs.map((output) => once(output, 'close'))]).then(
    ([[code, signal]]): ProcessExit => ({ code, signal }),
  );
  void ended.then(end);
  const signalled = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return {
    pid: child.pid ?? 0,
    get processId() {
      const started = lines.find(({ event }) => event === 'process.started');
      if (!started) throw new Error('the process has not started');
      return String(started.processId);
    },
    lines,
    waitForEvent,
    stop: () => signalled('SIGTERM'),
    terminate: () => void child.kill('SIGTERM'),
    kill: () => signalled('SIGKILL'),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    leave: () => child.disconnect(),
    hasEnded: () => hasEnded(child),
    ended: () => ended,
  };
}
