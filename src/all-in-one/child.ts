import { fork } from 'node:child_process';
import type { Running } from '../own-services/keep-running.ts';
import { SECOND } from '../platform/clock.ts';
import type { Variables } from '../platform/environment.ts';

/** A child that has not stopped after this time is killed. Normally it stops within 10 s (design rule 12). */
const STOP_TIMEOUT_MS = 20 * SECOND;

/**
 * Starts one of our processes as a child.
 *
 * - If this process ends, the child stops: the IPC channel closes (`endWithParent`).
 * - The child inherits the output streams. With pipes, a child of a killed process would write to a closed pipe.
 * - The child has its own process group: Ctrl-C in the terminal reaches only this process, which then stops its
 *   children in order.
 *
 * @param entry - the path of its main file
 */
export function startChild(entry: string, env: Variables): Running {
  const child = fork(entry, {
    env,
    // The child does not get our options of Node, such as `--env-file`: `env` already has the variables.
    execArgv: [],
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
  return {
    ended,
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
