import { fork } from 'node:child_process';
import type { Environment } from '../embedded/binary.ts';
import type { Running } from '../embedded/keep-running.ts';
import { SECOND } from '../platform/clock.ts';

/** A process of ours stops itself within 10 s (design rule 12); after this it is forced to. */
const STOP_TIMEOUT_MS = 20 * SECOND;

/**
 * Starts one of our processes as a child, with an IPC channel by which it learns of our end (endWithParent).
 * It prints where this process prints, not through it: a process that is killed must leave nobody behind who
 * writes to a closed pipe. It has a process group of its own: Ctrl-C in the terminal reaches this process
 * alone, which then stops its children in order.
 *
 * @param entry - the path of its main file
 */
export function startChild(entry: string, env: Environment): Running {
  const child = fork(entry, {
    env,
    // What our own command line says, such as a file of variables, is in `env` already.
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
