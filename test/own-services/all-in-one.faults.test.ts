import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../../src/own-services/free-port.ts';
import { isAlive } from '../../src/own-services/process-identity.ts';
import type { Variables } from '../../src/platform/environment.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { type DataFolder, freshDataFolder } from './data-folder.ts';
import { bareMachine } from './machine.ts';
import { address, childrenOf, exitCode, lives, start } from './npm-start.ts';

let data: DataFolder;
let env: Variables;

beforeEach(async () => {
  data = await freshDataFolder();
  env = { ...data.env, NODE_ENV: 'test', PORT: '0', METRICS_PORT: '0' };
});

describe('npm start', () => {
  test('after a kill its processes exit by themselves, and the next start uses the same port and data', async () => {
    const port = await freePort();
    env.PORT = String(port);
    const killed = start(env);
    await address(killed);
    const { mongod } = await data.record();
    const children = await childrenOf(killed.pid);
    killed.child.kill('SIGKILL');
    await exitCode(killed);
    await vi.waitFor(
      () => expect(['web', 'main', 'scheduler'].filter((name) => lives(children.get(name) ?? 0))).toEqual([]),
      EVENTUALLY,
    );

    const next = start(env);
    expect(await address(next)).toBe(`http://localhost:${port}`);
    expect(next.stdout()).toMatch(/left over from a start that was killed/);
    expect(next.stdout()).not.toMatch(/The database is prepared/);
    expect(await isAlive(mongod)).toBe(false);
  });

  test('a worker that died is started again, a second start is refused, and a second signal kills everything at once', async () => {
    const started = start(env);
    const url = await address(started);
    const worker = (await childrenOf(started.pid)).get('main') ?? 0;
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

    const children = await childrenOf(started.pid);
    // A suspended worker delays the orderly shutdown.
    process.kill(children.get('main') ?? 0, 'SIGSTOP');
    started.child.kill('SIGINT');
    await vi.waitFor(() => expect(started.stdout()).toContain('Stopping'), EVENTUALLY);
    // The signal that npm forwards after the terminal's own one counts as the same signal.
    started.child.kill('SIGINT');
    await vi.waitFor(
      () => {
        started.child.kill('SIGINT');
        expect(started.child.exitCode).toBe(1);
      },
      { timeout: 10_000, interval: 700 },
    );
    await vi.waitFor(() => expect([...children.values()].filter(lives)).toEqual([]), { timeout: 5_000 });
  });

  test('a signal during the start stops it too', async () => {
    const started = start(env);
    const { mongod } = await vi.waitFor(() => data.record(), EVENTUALLY);
    started.child.kill('SIGTERM');
    expect(await exitCode(started)).toBe(0);
    await vi.waitFor(async () => expect(await isAlive(mongod)).toBe(false), EVENTUALLY);
  });

  test('a signal while its processes start ends them before it exits', async () => {
    const started = start(env);
    const children = await vi.waitFor(async () => {
      const found = await childrenOf(started.pid);
      expect([...found.keys()]).toEqual(expect.arrayContaining(['main', 'scheduler', 'web']));
      return found;
    }, EVENTUALLY);
    started.child.kill('SIGTERM');
    expect(await exitCode(started)).toBe(0);
    expect([...children.values()].filter(lives)).toEqual([]);
    expect(started.stderr()).toBe('');
  });
});

describe('what stops a start', () => {
  test('a port in use; the started services are stopped again', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    env.PORT = String(port);
    const started = start(env);
    expect(await exitCode(started)).toBe(1);
    expect(started.stderr()).toBe(
      `Port ${port} on 127.0.0.1 is already in use: set PORT to another number, such as ${port + 1}.\n`,
    );
    await expect(data.record()).rejects.toThrow('ENOENT');
    expect(await readFile(join(data.dir, 'mongodb', 'log'), 'utf8')).toContain('Now exiting');
  });

  test('a metrics port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    env.METRICS_PORT = String(port);
    const started = start(env);
    expect(await exitCode(started)).toBe(1);
    expect(started.stderr()).toBe(
      `Port ${port} on 127.0.0.1 is already in use: set METRICS_PORT to another number, or to 0 for any free ports.\n`,
    );
  });

  test('a host that is not this machine', async () => {
    env.HOST = '192.0.2.1';
    const started = start(env);
    expect(await exitCode(started)).toBe(1);
    expect(started.stderr()).toBe(
      '192.0.2.1 is no address of this machine that can be listened on (EADDRNOTAVAIL): set HOST to one that is, such as 127.0.0.1.\n',
    );
  });

  test('a wrong value in the environment', async () => {
    env.PORT = 'http';
    const started = start(env);
    expect(await exitCode(started)).toBe(1);
    expect(started.stderr()).toBe(
      'The configuration has an error:\n  PORT (“http”) must be a port number, 0 to 65535\n',
    );
  });

  test('a machine without MongoDB, Redis and Python', async () => {
    const machine = await bareMachine();
    env = { ...env, ...machine.env };
    const started = start(env);
    expect(await exitCode(started)).toBe(1);
    expect(started.stderr()).toMatch(
      /^No MongoDB was found: [^\n]+set MONGODB_URI to the address of one\.\n$/,
    );
  });
});
