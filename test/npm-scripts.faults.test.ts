import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startApp } from './support/start-app.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

test('SIGTERM to the npm that runs a process reaches the process', async () => {
  const tallyport = await startApp();
  onTestFinished(() => tallyport.close());
  // A group of its own, so that nothing is left where the signal reaches npm alone.
  const npm = spawn('npm', ['run', 'web'], {
    cwd: ROOT,
    env: { ...tallyport.env, LOG_LEVEL: 'info' },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { pid = 0 } = npm;
  onTestFinished(() => {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // All of it has ended.
    }
  });
  const events: string[] = [];
  const output = createInterface({ input: npm.stdout });
  output.on('line', (line) => events.push(/"event":"([^"]+)"/.exec(line)?.[1] ?? line));
  await expect.poll(() => events).toContain('process.started');

  npm.kill('SIGTERM');
  // The pipe closes when whoever holds it has ended.
  await once(output, 'close');
  expect(events).toContain('process.stopped');
});
