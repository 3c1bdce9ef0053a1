import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Environment } from '../../src/embedded/binary.ts';
import { freePort } from '../../src/embedded/free-port.ts';
import { isAlive } from '../../src/embedded/process-identity.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { type DataFolder, freshDataFolder } from './data-folder.ts';
import { bareMachine } from './machine.ts';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../src/all-in-one.ts', import.meta.url));

let data: DataFolder;
let env: Environment;

beforeEach(async () => {
  data = await freshDataFolder();
  env = { ...data.env, NODE_ENV: 'test', PORT: '0', METRICS_PORT: '0' };
});

type Start = { child: ChildProcess; pid: number; stdout(): string; stderr(): string };

/** `npm start` without npm. */
function start(): Start {
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
async function exitCode({ child }: Start): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  return child.exitCode;
}

/** Waits until the platform prints that it runs; returns its address. */
async function address(started: Start): Promise<string> {
  return await vi.waitFor(() => {
    const url = /Tallyport runs at (\S+)/.exec(started.stdout())?.[1];
    if (!url) throw new Error(`not yet: ${started.stdout()}${started.stderr()}`);
    return url;
  }, EVENTUALLY);
}

/** The processes that `pid` started, by the file or program that they run. */
async function childrenOf(pid: number): Promise<Map<string, number>> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,args=']);
  const found = new Map<string, number>();
  for (const line of stdout.split('\n')) {
    const [, child, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    const name =
      /(server|main|scheduler)\.ts$/.exec(args)?.[1] ?? /(mongod|redis-server|valkey-server)/.exec(args)?.[1];
    if (Number(parent) === pid && name && child) found.set(name, Number(child));
  }
  return found;
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('npm start', () => {
  test('prints its address, answers there, restarts a worker that died, refuses a second start, and stops in order at one signal', async () => {
    // Its processes get the key as a value.
    const file = join(data.dir, 'given-key');
    await mkdir(data.dir, { recursive: true });
    await writeFile(file, 'k3y-for-tests-0123456789-abcdefghij\n');
    env = { ...env, SECRET_KEY_FILE: file };
    const started = start();
    const url = await address(started);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/docs`)).status).toBe(200);
    expect(started.stdout()).toContain(`DATA_DIR=${data.dir} npm run -s tallyport -- --help`);
    const { mongod, redis } = await data.record();
    const children = await childrenOf(started.pid);
    expect([...children.keys()].toSorted()).toEqual(
      expect.arrayContaining(['main', 'mongod', 'scheduler', 'server']),
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

    const second = start();
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

  test('after a kill its processes exit by themselves, and the next start uses the same port and data', async () => {
    const port = await freePort();
    env.PORT = String(port);
    const killed = start();
    await address(killed);
    const { mongod } = await data.record();
    const children = await childrenOf(killed.pid);
    killed.child.kill('SIGKILL');
    await exitCode(killed);
    await vi.waitFor(
      () =>
        expect(['server', 'main', 'scheduler'].filter((name) => lives(children.get(name) ?? 0))).toEqual([]),
      EVENTUALLY,
    );

    const next = start();
    expect(await address(next)).toBe(`http://localhost:${port}`);
    expect(next.stdout()).toMatch(/left over from a start that was killed/);
    expect(next.stdout()).not.toMatch(/The database is prepared/);
    expect(await isAlive(mongod)).toBe(false);
  });

  test('a second signal kills everything at once', async () => {
    const started = start();
    await address(started);
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
    const started = start();
    const { mongod } = await vi.waitFor(() => data.record(), EVENTUALLY);
    started.child.kill('SIGTERM');
    expect(await exitCode(started)).toBe(0);
    await vi.waitFor(async () => expect(await isAlive(mongod)).toBe(false), EVENTUALLY);
  });

  test('a signal while its processes start ends them before it exits', async () => {
    const started = start();
    const children = await vi.waitFor(async () => {
      const found = await childrenOf(started.pid);
      expect([...found.keys()]).toEqual(expect.arrayContaining(['main', 'scheduler', 'server']));
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
    const started = start();
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
    const started = start();
    expect(await exitCode(started)).toBe(1);
    expect(started.stderr()).toBe(
      `Port ${port} on 127.0.0.1 is already in use: set METRICS_PORT to another number, or to 0 for any free ports.\n`,
    );
  });

  test('a host that is not this machine', async () => {
    env.HOST = '192.0.2.1';
    const started = start();
    expect(await exitCode(started)).toBe(1);
    expect(started.stderr()).toBe(
      '192.0.2.1 is no address of this machine that can be listened on (EADDRNOTAVAIL): set HOST to one that is, such as 127.0.0.1.\n',
    );
  });

  test('a wrong value in the environment', async () => {
    env.PORT = 'http';
    const started = start();
    expect(await exitCode(started)).toBe(1);
    expect(started.stderr()).toBe(
      'The configuration has an error:\n  PORT («http») must be a port number, 0 to 65535\n',
    );
  });

  test('a machine without MongoDB, Redis and Python', async () => {
    const machine = await bareMachine();
    env = { ...env, ...machine.env };
    const started = start();
    expect(await exitCode(started)).toBe(1);
    expect(started.stderr()).toMatch(
      /^No MongoDB was found: [^\n]+set MONGODB_URI to the address of one\.\n$/,
    );
  });
});
