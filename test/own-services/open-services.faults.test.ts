import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { findServices, openServices } from '../../src/own-services/open-services.ts';
import { identityOf, isAlive } from '../../src/own-services/process-identity.ts';
import { type DataFolder, freshDataFolder } from './data-folder.ts';

const OWNER = fileURLToPath(new URL('./owner.ts', import.meta.url));
const quiet = () => undefined;

type Message = {
  lines: string[];
  error?: string;
  MONGODB_URI: string;
  REDIS_URL: string;
  SECRET_KEY: string;
};

/** Runs a process that opens services; returns its message once they are open or refused. */
async function owner(
  { env }: DataFolder,
  kind: 'platform' | 'command',
): Promise<Message & { child: ChildProcess; pid: number }> {
  const child = fork(OWNER, [kind], { env, detached: true });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  });
  const [message] = (await once(child, 'message')) as [Message];
  return { ...message, child, pid: child.pid ?? 0 };
}

async function insert(uri: string, name: string): Promise<void> {
  const client = new MongoClient(uri);
  await client
    .db()
    .collection('things')
    .insertOne({ name }, { writeConcern: { w: 'majority', journal: true } });
  await client.close();
}

async function names(uri: string): Promise<string[]> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 1_000 });
  try {
    return (await client.db().collection('things').find().toArray()).map((thing) => String(thing.name));
  } finally {
    await client.close();
  }
}

describe('a start and the next', () => {
  test('share data and key; nothing runs in between', async () => {
    const data = await freshDataFolder();
    const first = await openServices(data.config(), quiet, data.env);
    await insert(first.config.MONGODB_URI, 'kept');
    const redis = new Redis(first.config.REDIS_URL);
    await redis.set('a', 'kept');
    redis.disconnect();
    const { mongod } = await data.record();
    await first.close();
    expect(await isAlive(mongod)).toBe(false);
    await expect(data.record()).rejects.toThrow('ENOENT');

    const second = await openServices(data.config(), quiet, data.env);
    onTestFinished(() => second.close());
    expect(await names(second.config.MONGODB_URI)).toEqual(['kept']);
    const again = new Redis(second.config.REDIS_URL);
    expect(await again.get('a')).toBe('kept');
    expect(await again.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    again.disconnect();
    expect(second.config.SECRET_KEY).toBe(first.config.SECRET_KEY);
    expect(Buffer.from(first.config.SECRET_KEY, 'base64')).toHaveLength(32);
    expect((await stat(join(data.dir, 'secret-key'))).mode & 0o777).toBe(0o600);
  });

  test.skipIf(process.platform !== 'linux')('both listen on loopback only', async () => {
    const data = await freshDataFolder();
    const services = await openServices(data.config(), quiet, data.env);
    onTestFinished(() => services.close());
    const { mongod, redis } = await data.record();
    const listening = (await readFile('/proc/net/tcp', 'utf8'))
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A')
      .map((fields) => fields[1] ?? '');
    for (const { port } of [mongod, redis]) {
      const hex = port.toString(16).toUpperCase().padStart(4, '0');
      expect(listening.filter((address) => address.endsWith(`:${hex}`))).toEqual([`0100007F:${hex}`]);
    }
  });

  test('a second start is refused, with the process and address of the first', async () => {
    const data = await freshDataFolder();
    const running = await owner(data, 'platform');
    await expect(openServices(data.config(), quiet, data.env)).rejects.toThrow(
      `Tallyport is already running on ${data.dir}: process ${running.pid}, at http://localhost:3000. End that one first, or set DATA_DIR and PORT to run a second one.`,
    );
    expect(await names(running.MONGODB_URI)).toEqual([]);
  });

  test('two starts at the same moment: one runs, one is refused', async () => {
    const data = await freshDataFolder();
    const both = await Promise.all([owner(data, 'platform'), owner(data, 'platform')]);
    expect(both.filter(({ error }) => error === undefined)).toHaveLength(1);
    expect(both.find(({ error }) => error)?.error).toMatch(/already running/);
  });

  test('the next start stops the services of a killed start, and the data is there', async () => {
    const data = await freshDataFolder();
    const killed = await owner(data, 'platform');
    await insert(killed.MONGODB_URI, 'kept');
    const { mongod, redis } = await data.record();
    killed.child.kill('SIGKILL');
    await once(killed.child, 'exit');
    expect(await isAlive(mongod)).toBe(true);

    const lines: string[] = [];
    const next = await openServices(data.config(), (line) => lines.push(line), data.env);
    onTestFinished(() => next.close());
    expect(lines).toEqual([
      expect.stringContaining(`(process ${redis.pid}), left over`),
      expect.stringContaining(
        `Stopping mongod (process ${mongod.pid}), left over from a start that was killed`,
      ),
    ]);
    expect([await isAlive(mongod), await isAlive(redis)]).toEqual([false, false]);
    expect(await names(next.config.MONGODB_URI)).toEqual(['kept']);
  });

  test('a process that has the id of a left-over one is not touched', async () => {
    const data = await freshDataFolder();
    const stranger = spawn('sleep', ['60']);
    onTestFinished(() => void stranger.kill());
    const pid = stranger.pid ?? 0;
    const dead = { pid, startedAt: 'some other time' };
    const service = { ...dead, program: 'mongod', version: '6.0.5', port: 1 };
    await writeFile(
      join(data.dir, 'services.json'),
      JSON.stringify({ owner: { ...dead, kind: 'platform', address: '' }, mongod: service, redis: service }),
    );
    const services = await openServices(data.config(), quiet, data.env);
    await services.close();
    expect(await isAlive(await identityOf(pid))).toBe(true);
    expect(stranger.exitCode).toBe(null);
  });

  test('Ctrl-C in the terminal does not reach them', async () => {
    const data = await freshDataFolder();
    const running = await owner(data, 'platform');
    process.kill(-running.pid, 'SIGINT');
    await insert(running.MONGODB_URI, 'still there');
    expect(await names(running.MONGODB_URI)).toEqual(['still there']);
  });

  test('the services of a process that exits without closing them are stopped', async () => {
    const data = await freshDataFolder();
    const program = `
      import { loadConfig } from '${new URL('../../src/platform/config.ts', import.meta.url)}';
      import { openServices } from '${new URL('../../src/own-services/open-services.ts', import.meta.url)}';
      await openServices(loadConfig(), () => undefined);
      process.on('message', () => { throw new Error('an internal error'); });
      process.send('open');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      env: data.env,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    await once(child, 'message');
    const { mongod, redis } = await data.record();
    child.send('fail');
    await once(child, 'exit');
    await vi.waitFor(
      async () => expect([await isAlive(mongod), await isAlive(redis)]).toEqual([false, false]),
      10_000,
    );
  });

  test('a mongod that dies is restarted on the same port, with its data', async () => {
    const data = await freshDataFolder();
    const lines: string[] = [];
    const services = await openServices(data.config(), (line) => lines.push(line), data.env);
    onTestFinished(() => services.close());
    await insert(services.config.MONGODB_URI, 'kept');
    const { mongod } = await data.record();
    process.kill(mongod.pid, 'SIGKILL');
    await vi.waitFor(async () => expect(await names(services.config.MONGODB_URI)).toEqual(['kept']), 20_000);
    expect(lines).toEqual(['MongoDB ended unexpectedly (killed by SIGKILL): starting it again in 1 s']);
    expect((await data.record()).mongod.pid).not.toBe(mongod.pid);
  });
});

describe('a command', () => {
  test('uses the services of the running platform and leaves them running', async () => {
    const data = await freshDataFolder();
    const running = await owner(data, 'platform');
    const found = await findServices(data.config(), quiet, data.env);
    expect(found.config).toMatchObject({
      MONGODB_URI: running.MONGODB_URI,
      REDIS_URL: running.REDIS_URL,
      SECRET_KEY: running.SECRET_KEY,
    });
    await found.close();
    expect(await names(running.MONGODB_URI)).toEqual([]);
  });

  test('uses the running platform’s settings that its own environment lacks', async () => {
    const data = await freshDataFolder();
    const settings = { ALLOWED_PRIVATE_RANGES: '127.0.0.0/8', PORT: '4200', QUEUE_PREFIX: 'theirs' };
    // Neither has variables from the shell of the tests.
    const env = { ...data.env, PUBLIC_URL: '', SERVICE_NAME: '', LISTENER_TIMEOUT_MS: '', LEASE_MS: '' };
    const slow = { LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' };
    const running = await owner({ ...data, env: { ...env, ...settings, ...slow } }, 'platform');
    expect(running.error).toBeUndefined();
    const found = await findServices(data.config({ QUEUE_PREFIX: 'mine' }), quiet, {
      ...env,
      ALLOWED_PRIVATE_RANGES: '',
      QUEUE_PREFIX: 'mine',
    });
    expect(found.config).toMatchObject({
      PUBLIC_URL: 'http://localhost:4200',
      QUEUE_PREFIX: 'mine',
      LISTENER_TIMEOUT_MS: 8_000,
      DATA_DIR: data.dir,
    });
    expect(found.config.ALLOWED_PRIVATE_RANGES.map(([range, bits]) => `${range}/${bits}`)).toEqual([
      '127.0.0.0/8',
    ]);
    expect(found.started).toEqual([]);
  });

  test('starts services if nothing runs, and a second command waits until it exits', async () => {
    const data = await freshDataFolder();
    const first = await owner(data, 'command');
    const second = findServices(data.config(), quiet, data.env);
    await insert(first.MONGODB_URI, 'by the first');
    first.child.kill('SIGTERM');
    const services = await second;
    onTestFinished(() => services.close());
    expect(await names(services.config.MONGODB_URI)).toEqual(['by the first']);
  });
});

describe('services of the environment', () => {
  test('MongoDB and Redis are given: nothing is started, and the key is made once', async () => {
    const data = await freshDataFolder();
    const given = { MONGODB_URI: inject('mongodbUri'), REDIS_URL: inject('redisUrl') };
    const opened = await Promise.all([1, 2, 3].map(() => openServices(data.config(given), quiet, data.env)));
    expect(new Set(opened.map((services) => services.config.SECRET_KEY)).size).toBe(1);
    expect(opened[0]?.config).toMatchObject(given);
    await expect(data.record()).rejects.toThrow('ENOENT');
  });

  test('only MongoDB is given: Redis is started', async () => {
    const data = await freshDataFolder();
    const services = await openServices(data.config({ MONGODB_URI: inject('mongodbUri') }), quiet, data.env);
    onTestFinished(() => services.close());
    expect(services.config.MONGODB_URI).toBe(inject('mongodbUri'));
    expect(Object.keys(await data.record())).toEqual(['owner', 'settings', 'redis']);
    expect(services.description).toEqual([
      expect.stringMatching(/^Redis: .+ data in /),
      'MongoDB: the one of MONGODB_URI',
    ]);
  });

  test('a command without the address of the platform’s MongoDB fails with an error that says so', async () => {
    const data = await freshDataFolder();
    data.env.MONGODB_URI = inject('mongodbUri');
    const running = await owner(data, 'platform');
    await expect(findServices(data.config(), quiet, data.env)).rejects.toThrow(
      `The running Tallyport (process ${running.pid}) uses its own MONGODB_URI: set the same one for this command.`,
    );
  });
});
