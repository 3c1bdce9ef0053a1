import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { SECOND } from '../../src/clock.ts';
import type { ConnectedConfig } from '../../src/config.ts';
import { hasEnded, spawnOwn } from './own-process.ts';

/** One line of a process's log. */
export type LogLine = { event?: string } & Record<string, unknown>;

/** How a process ended, and how long after the question. */
export type ProcessEnd = { code: number | null; signal: NodeJS.Signals | null; afterMs: number };

/** A real worker or scheduler, ended at the latest when the test ends. */
export type WorkerProcess = {
  pid: number;
  /** What it has logged so far. */
  lines: LogLine[];
  /** The first line of this event, past or to come, of which `matching` is true. */
  waitForEvent(event: string, matching?: (line: LogLine) => boolean): Promise<LogLine>;
  /** SIGTERM; waits for the end. */
  stop(): Promise<ProcessEnd>;
  /** SIGTERM, and no waiting. */
  terminate(): void;
  /** SIGKILL; waits for the end. */
  kill(): Promise<ProcessEnd>;
  /** SIGSTOP: it stands still in the middle of whatever it does. */
  pause(): void;
  /** SIGCONT */
  resume(): void;
  /** Cuts the channel by which a process sees that its parent is gone. */
  leave(): void;
  hasEnded(): boolean;
  /** Waits for an end that was asked for. */
  ended(): Promise<ProcessEnd>;
};

type Options = {
  /** Changes of the environment that follows from the configuration. */
  env?: Record<string, string>;
  /** Its command line: the queues to work on. */
  args?: string[];
  /** The event of its log that is waited for; `process.started` by default. */
  until?: string;
};

/** Nothing that a test waits for takes longer on a busy machine. */
const PATIENCE_MS = 20 * SECOND;

/** Starts `workers/main.ts` and waits until it runs. */
export function startWorker(config: ConnectedConfig, options: Options = {}): Promise<WorkerProcess> {
  return startProcess('workers/main.ts', config, options);
}

/** Starts `workers/scheduler.ts` and waits until it runs. */
export function startScheduler(config: ConnectedConfig, options: Options = {}): Promise<WorkerProcess> {
  return startProcess('workers/scheduler.ts', config, options);
}

async function startProcess(
  entry: string,
  config: ConnectedConfig,
  { env = {}, args = [], until = 'process.started' }: Options,
): Promise<WorkerProcess> {
  const settings = { ...environmentOf(config), METRICS_PORT: '0', LOG_LEVEL: 'info', ...env };
  const worker = watch(spawnOwn(entry, settings, args));
  await worker.waitForEvent(until);
  return worker;
}

/** What an operator would set to get `config`. */
function environmentOf(config: ConnectedConfig): Record<string, string> {
  const {
    basePath: _,
    ALLOWED_PRIVATE_RANGES,
    CANARY_ADDRESSES,
    DELIVERY_SCHEDULE,
    BREAKER_SCHEDULE,
    ...rest
  } = config;
  const plain = Object.entries(rest).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(plain.map(([name, value]) => [name, String(value)])),
    ALLOWED_PRIVATE_RANGES: ALLOWED_PRIVATE_RANGES.map(([address, bits]) => `${address}/${bits}`).join(','),
    CANARY_ADDRESSES: CANARY_ADDRESSES.map(
      ({ game, host, port }) => `${game === null ? '' : `${game}@`}${host}:${port}`,
    ).join(','),
    DELIVERY_SCHEDULE: inSeconds(DELIVERY_SCHEDULE),
    BREAKER_SCHEDULE: inSeconds(BREAKER_SCHEDULE),
  };
}

function inSeconds(schedule: number[]): string {
  return schedule.map((ms) => `${ms / SECOND}s`).join(',');
}

function watch(child: ChildProcess): WorkerProcess {
  const lines: LogLine[] = [];
  const errors: string[] = [];
  const waiting = new Set<() => void>();
  const tell = () => {
    for (const look of waiting) look();
  };
  const hear = (text: string) => {
    if (text.startsWith('{')) lines.push(JSON.parse(text));
    else errors.push(text);
    tell();
  };
  const outputs = [child.stdout, child.stderr].flatMap((stream) => {
    return stream ? [createInterface({ input: stream }).on('line', hear)] : [];
  });
  // Not the event `close`: it does not come when the channel was cut from here.
  const end = Promise.all([once(child, 'exit'), ...outputs.map((output) => once(output, 'close'))]).then(
    ([[code, signal]]) => ({ code, signal }),
  );
  void end.then(tell);
  const story = () => [...lines.map((line) => JSON.stringify(line)), ...errors].slice(-40).join('\n');

  async function endAfter(ask: () => unknown): Promise<ProcessEnd> {
    const asked = performance.now();
    ask();
    return { ...(await end), afterMs: performance.now() - asked };
  }

  return {
    pid: child.pid ?? 0,
    lines,
    waitForEvent(event, matching = () => true) {
      const { promise, resolve, reject } = Promise.withResolvers<LogLine>();
      const giveUp = (why: string) => reject(new Error(`${why} before ${event}:\n${story()}`));
      const look = () => {
        const line = lines.find((line) => line.event === event && matching(line));
        if (line) resolve(line);
        else if (hasEnded(child)) giveUp('The process ended');
      };
      const timer = setTimeout(() => giveUp(`${PATIENCE_MS} ms passed`), PATIENCE_MS);
      waiting.add(look);
      look();
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(look);
      });
    },
    stop: () => endAfter(() => child.kill('SIGTERM')),
    terminate: () => void child.kill('SIGTERM'),
    kill: () => endAfter(() => child.kill('SIGKILL')),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    leave: () => child.disconnect(),
    hasEnded: () => hasEnded(child),
    ended: () => endAfter(() => undefined),
  };
}
