import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { isAlive } from '../../src/embedded/process-identity.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { freshDataFolder } from './data-folder.ts';
import { address, childrenOf, exitCode, lives, start } from './npm-start.ts';

test('npm start prints its address, answers there, restarts a worker that died, refuses a second start, and stops in order at one signal', async () => {
  const data = await freshDataFolder();
  // Its processes get the key as a value.
  const file = join(data.dir, 'given-key');
  await mkdir(data.dir, { recursive: true });
  await writeFile(file, 'k3y-for-tests-0123456789-abcdefghij\n');
  const env = {
    ...data.env,
    NODE_ENV: 'test',
    PORT: '0',
    METRICS_PORT: '0',
    SECRET_KEY_FILE: file,
  };
  const started = start(env);
  const url = await address(started);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await fetch(`${url}/docs`)).status).toBe(200);
  expect(started.stdout()).toContain(`DATA_DIR=${data.dir} npm run -s tallyport -- --help`);
  const { mongod, redis } = await data.record();
  const children = await childrenOf(started.pid);
  expect([...children.keys()].toSorted()).toEqual(
    expect.arrayContaining(['main', 'mongod', 'scheduler', 'web']),
  );
  expect(started.stdout()).not.toMatch(/unexpectedly|"level":"(error|warn)"/);

  const worker = children.get('main') ?? 0;
  process.kill(worker, 'SIGKILL');
  await vi.waitFor(async () => {
    const next = (await childrenOf(started.pid)).get('main');
    expect(next).toBeGreaterThan(0);
    expect(next).not.toBe(worker);
  }, EVENTUALLY);
  expect(started.stdout()).toContain(
    'worker ended unexpectedly (killed by SIGKILL): starting it again in 1 s',
  );

  const second = start(env);
  expect(await exitCode(second)).toBe(1);
  expect(second.stderr()).toBe(
    `Tallyport is already running on ${data.dir}: process ${started.pid}, at ${url}. End that one first, or set DATA_DIR and PORT to run a second one.\n`,
  );
  expect((await fetch(`${url}/readyz`)).status).toBe(200);

  const last = await childrenOf(started.pid);
  started.child.kill('SIGINT');
  expect(await exitCode(started)).toBe(0);
  expect([...last.values()].filter(lives)).toEqual([]);
  expect([await isAlive(mongod), await isAlive(redis)]).toEqual([false, false]);
  await expect(data.record()).rejects.toThrow('ENOENT');
  expect(started.stderr()).toBe('');
});
