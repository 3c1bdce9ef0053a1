import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Binary } from '../../src/own-services/binary.ts';
import {
  type ServiceKind,
  type ServiceProcess,
  startService,
} from '../../src/own-services/service-process.ts';

/** A process that a storm may end at any moment. */
export type ControlledProcess = {
  /** Starts it unless it runs. */
  start(): Promise<void>;
  /** SIGKILL; waits for its end. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT; nothing happens to one that does not run. */
  stop(): void;
  resume(): void;
};

/** A Tallyport process. */
export type ControlledProgram = ControlledProcess & {
  /** SIGTERM; waits for its end. Throws when it ends with another exit code than 0. */
  end(): Promise<void>;
};

/** Called when a process ends that was not killed on purpose. */
type Died = (what: string) => void;

/** mongod or Redis. */
export function service(
  kind: ServiceKind,
  options: { binary: Binary; dir: string; port: number },
  died: Died,
): ControlledProcess {
  let running: ServiceProcess | undefined;
  let starting: Promise<void> | undefined;
  const launch = async () => {
    const started = await startService(kind, options);
    running = started;
    void watch(started);
  };
  const watch = async (started: ServiceProcess) => {
    const how = await started.ended;
    if (running !== started) return;
    running = undefined;
    died(`${kind.title}: ${how}`);
  };
  const signal = (name: NodeJS.Signals) => {
    if (running) process.kill(running.pid, name);
  };
  return {
    start() {
      if (running) return Promise.resolve();
      starting ??= launch().finally(() => {
        starting = undefined;
      });
      return starting;
    },
    async kill() {
      await starting;
      const killed = running;
      if (!killed) return;
      running = undefined;
      process.kill(killed.pid, 'SIGKILL');
      await killed.ended;
    },
    stop: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
  };
}

/** The folder of this version's source. */
export const THIS_VERSION = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A process of ours, by its entry: `src/web.ts`. It ends with this process.
 *
 * @param root - the folder of a version's source
 */
export function program(
  entry: string,
  env: Record<string, string | undefined>,
  died: Died,
  root = THIS_VERSION,
): ControlledProgram {
  const path = join(root, entry);
  let child: ChildProcess | undefined;
  return {
    async start() {
      if (child) return;
      const started = spawn(process.execPath, [path], { env, stdio: ['ignore', 'ignore', 'inherit'] });
      child = started;
      const killWithThisProcess = () => started.kill('SIGKILL');
      process.once('exit', killWithThisProcess);
      started.once('exit', (code, signal) => {
        process.off('exit', killWithThisProcess);
        if (child !== started) return;
        child = undefined;
        died(`${entry}: ${signal ?? `exit code ${code}`} (see standard error)`);
      });
    },
    async kill() {
      const killed = child;
      child = undefined;
      if (!killed) return;
      killed.kill('SIGKILL');
      await once(killed, 'exit');
    },
    async end() {
      const ended = child;
      child = undefined;
      if (!ended) return;
      ended.kill('SIGTERM');
      const [code, signal] = await once(ended, 'exit');
      if (code !== 0) throw new Error(`${entry} ended with ${signal ?? `exit code ${code}`}`);
    },
    stop: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
  };
}
