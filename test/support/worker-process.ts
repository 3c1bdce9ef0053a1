import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ConnectedConfig } from '../../src/platform/config.ts';
import { collectLines, type LogLines } from './log-lines.ts';
import { hasEnded, spawnOwn } from './own-process.ts';
import { environmentOf } from './process-environment.ts';

/** How a process exited. */
export type ProcessExit = { code: number | null; signal: NodeJS.Signals | null };

/** A worker or scheduler in a separate process. When the test ends, it is stopped if it still runs. */
export type WorkerProcess = Pick<LogLines, 'lines' | 'waitForEvent'> & {
  pid: number;
  /** The owner id of its leases and attempts. Throws if the process has not started yet. */
  readonly processId: string;
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<ProcessExit>;
  /** Sends SIGTERM without waiting. */
  terminate(): void;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<ProcessExit>;
  /** Sends SIGSTOP: the process is suspended in the middle of its work. */
  pause(): void;
  /** Sends SIGCONT. */
  resume(): void;
  /** Closes the IPC channel, as if the parent had ended. */
  leave(): void;
  hasEnded(): boolean;
  /** Waits for the exit, after one was requested. */
  ended(): Promise<ProcessExit>;
};

type Options = {
  /** Changes of the environment that is derived from the configuration. */
  env?: Record<string, string>;
  /** The arguments of its command line: the queues that it works on. */
  args?: string[];
  /** The log event to wait for; `process.started` by default. */
  until?: string;
};

/**
 * Starts `workers/main.ts` as a process and waits until it runs. If a test needs no separate process: `startWorker`.
 */
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
  // Not the event `close`, which does not come if this process closed the channel.
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
