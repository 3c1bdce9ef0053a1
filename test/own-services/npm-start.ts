import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished, vi } from 'vitest';
import type { Variables } from '../../src/platform/environment.ts';
import { EVENTUALLY } from '../support/eventually.ts';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../src/all-in-one.ts', import.meta.url));

/** A running or ended `npm start`, and what it has printed so far. */
export type Start = { child: ChildProcess; pid: number; stdout(): string; stderr(): string };

/** Starts what `npm start` runs, without npm; it is stopped when the test ends. */
export function start(env: Variables): Start {
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  return { child, pid: child.pid ?? 0, stdout: () => stdout, stderr: () => stderr };
}

/** The exit code, once the process and all processes with the same output have exited. */
export async function exitCode({ child }: Start): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  return child.exitCode;
}

/** Waits until the platform prints that it runs; returns its address. */
export async function address(started: Start): Promise<string> {
  return await vi.waitFor(() => {
    const url = /Tallyport runs at (\S+)/.exec(started.stdout())?.[1];
    if (!url) throw new Error(`not yet: ${started.stdout()}${started.stderr()}`);
    return url;
  }, EVENTUALLY);
}

/** The processes that `pid` started, by the file or program that they run. */
export async function childrenOf(pid: number): Promise<Map<string, number>> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,args=']);
  const found = new Map<string, number>();
  for (const line of stdout.split('\n')) {
    const [, child, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    const name =
      /(web|main|scheduler)\.ts$/.exec(args)?.[1] ?? /(mongod|redis-server|valkey-server)/.exec(args)?.[1];
    if (Number(parent) === pid && name && child) found.set(name, Number(child));
  }
  return found;
}

/** Whether a process with this id exists. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
