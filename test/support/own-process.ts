import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { atTheEnd } from './at-the-end.ts';

/** Whether a process has ended, by itself or by a signal. */
export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/**
 * Starts a Tallyport process by its main file, such as `src/web.ts`. Its environment is only `env` and the cache folder
 * of compiled code. Its output comes through pipes; through an IPC channel it notices the end of its parent. When the
 * test ends, it is killed if it still runs (see at-the-end.ts).
 */
export function spawnOwn(entry: string, env: Record<string, string>, args: string[] = []) {
  const path = fileURLToPath(new URL(`../../${entry}`, import.meta.url));
  const { NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [path, ...args], {
    env: { NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  atTheEnd(async () => {
    if (hasEnded(child)) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return child as typeof child & { stdout: Readable; stderr: Readable };
}
