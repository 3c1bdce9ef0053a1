import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePort, listenErrorOf } from '../../src/embedded/free-port.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { environmentOf } from '../support/process-environment.ts';
import { testDeps } from '../support/test-deps.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COMMANDS = Object.fromEntries(
  readFileSync(`${ROOT}Procfile`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(/: (.*)/, 2) as [string, string]),
);

/** The first of four free ports that follow each other. */
async function fourFreePorts(): Promise<number> {
  const first = await freePort();
  const errors = await Promise.all([1, 2, 3].map((more) => listenErrorOf('127.0.0.1', first + more)));
  return errors.every((error) => error === null) ? first : fourFreePorts();
}

/** Runs a command in a shell, as foreman and its like do. It is killed when the test ends. */
function start(command: string, env: Record<string, string>) {
  const child = spawn('sh', ['-c', command], {
    cwd: ROOT,
    detached: true,
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close').then(([code]): number => code);
  onTestFinished(async () => {
    // The shell's whole group: the process is its child.
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
    await ended;
  });
  return { errors: text(child.stderr), ended };
}

test('all processes of the Procfile run on one machine, with the settings of one .env', async () => {
  const { config } = await testDeps();
  const first = await fourFreePorts();
  const env = { ...environmentOf(config), PORT: String(first + 3), METRICS_PORT: String(first) };
  const release = start(COMMANDS.release ?? '', env);
  expect([await release.ended, await release.errors]).toEqual([0, '']);

  const processes = ['web', 'worker', 'scheduler'];
  const started = processes.map((name) => start(COMMANDS[name] ?? '', env));
  const ready = processes.map((_, index) =>
    vi.waitFor(async () => {
      const answer = await fetch(`http://127.0.0.1:${first + index}/readyz`);
      expect(answer.status).toBe(200);
    }, EVENTUALLY),
  );
  const stopped = started.map(async ({ ended, errors }) => [await ended, await errors]);
  expect(await Promise.race([Promise.all(ready), ...stopped])).toEqual([undefined, undefined, undefined]);
});
