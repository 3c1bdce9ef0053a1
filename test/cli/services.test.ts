import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { loadConfig, ownEnvironment } from '../../src/config.ts';
import { openServices } from '../../src/embedded/services.ts';
import { unmigratedNames } from '../support/databases.ts';
import { startMongod, startRedis } from '../support/services.ts';
import { openTerminal, tallyport } from './tallyport.ts';

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** The environment of a command on services that may be away. */
function environment(changes: Record<string, string | undefined>): Record<string, string | undefined> {
  const { mongodbUri, redisUrl, queuePrefix } = unmigratedNames();
  return {
    ...ownEnvironment(),
    NODE_ENV: 'test',
    SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
    MONGODB_URI: mongodbUri,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: queuePrefix,
    ...changes,
  };
}

/** The environment of a command for which services are found or started in a data folder of their own. */
async function embedded(): Promise<{ env: Record<string, string | undefined>; dataDir: string }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tallyport-cli-data-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const env = environment({
    MONGODB_URI: undefined,
    REDIS_URL: undefined,
    SECRET_KEY: undefined,
    DATA_DIR: dataDir,
  });
  return { env: { ...env, MONGOMS_SYSTEM_BINARY: inject('mongodBinary').path }, dataDir };
}

const words = (line: string) => line.split(' ');
const ADD = words('server add --name Alpha --address a.example --port 1');

describe('with MongoDB away', () => {
  it.each([
    ['where nobody listens', async () => 'mongodb://user:s3cret@127.0.0.1:1/none'],
    [
      'where it is stopped and silent',
      async () => {
        const mongod = await startMongod();
        onTestFinished(async () => {
          mongod.resume();
          await mongod.stop();
        });
        mongod.pause();
        return `${mongod.uri}/none`;
      },
    ],
  ])('a command says so in one line within 10 seconds, %s', async (_where, address) => {
    const env = environment({ MONGODB_URI: await address() });
    const began = performance.now();
    const [plain, json] = await Promise.all([
      tallyport(['server', 'list'], { env }),
      tallyport(['server', 'list', '--json'], { env }),
    ]);

    expect(performance.now() - began).toBeLessThan(10_000);
    expect(plain).toMatchObject({ code: 1, stdout: '' });
    expect(plain.stderr).toMatch(/^MongoDB does not answer: [^\n]+\.\n$/);
    expect(plain.stderr).not.toContain('s3cret');
    expect(json).toMatchObject({
      code: 1,
      json: { error: plain.stderr.trim(), code: 'database-away' },
      stderr: '',
    });
  });

  it('an address that is none is a fault of configuration', async () => {
    const env = environment({ MONGODB_URI: 'mongodb://user:pass@word@127.0.0.1/x' });
    const ended = await tallyport(['server', 'list', '--json'], { env });

    expect(ended).toMatchObject({ code: 1, json: { code: 'configuration' } });
    expect(ended.stdout).not.toContain('pass@word');
  });
});

describe('with Redis away', () => {
  it('every command works; one that wakes a worker says who finds the work', async () => {
    const terminal = await openTerminal();
    onTestFinished(() => terminal.close());
    const env = { ...terminal.env, REDIS_URL: 'redis://127.0.0.1:1' };
    const run = (line: string) => tallyport(words(line), { env });
    await tallyport(ADD, { env });
    const set = 'listener set alpha --protocol votifier-v2 --host h.example --port 8192 --token abcdef012345';

    const json = await run(`${set} --json`);
    expect(json).toMatchObject({ code: 0, json: { state: 'active' } });
    expect(json.stderr).toMatch(/^Note: Redis does not answer\. Nothing is lost: [^\n]+\n$/);
    expect(await run('token issue alpha --json')).toMatchObject({ code: 0, stderr: '' });
    expect(await run('server remove alpha --yes')).toMatchObject({ code: 0, stderr: '' });
  });

  it('one that is stopped and silent delays a command by seconds at most', async () => {
    const redis = await startRedis();
    onTestFinished(async () => {
      redis.resume();
      await redis.stop();
    });
    const terminal = await openTerminal();
    onTestFinished(() => terminal.close());
    const env = { ...terminal.env, REDIS_URL: redis.url };
    await tallyport(ADD, { env });
    redis.pause();
    const began = performance.now();
    const set =
      'listener set alpha --protocol votifier-v2 --host h.example --port 8192 --token abcdef012345 --json';

    expect(await tallyport(words(set), { env })).toMatchObject({ code: 0, json: { state: 'active' } });
    expect(performance.now() - began).toBeLessThan(8_000);
  });
});

describe('the database', () => {
  it('is prepared by migrate; before, a command refuses to work on it', async () => {
    const env = environment({});
    const run = (line: string) => tallyport(words(line), { env });
    const before = await run('server list --json');
    const migrated = await run('migrate --json');
    const again = await run('migrate');

    expect(before).toMatchObject({ code: 1, json: { code: 'not-migrated' } });
    expect(migrated.json.made).toContain('servers.slug_1');
    expect(again).toMatchObject({ code: 0, stdout: 'Everything is there already.\n', stderr: '' });
    expect(await run('server list')).toMatchObject({ code: 0, stdout: 'No server is listed yet.\n' });
  });
});

describe('embedded services', () => {
  it('are those of the running platform, which outlive the command', async () => {
    const { env, dataDir } = await embedded();
    const services = await openServices(
      loadConfig({ NODE_ENV: 'test', DATA_DIR: dataDir }),
      () => undefined,
      env,
    );
    onTestFinished(() => services.close());
    const added = await tallyport([...ADD, '--json'], { env });
    const { MONGODB_URI, REDIS_URL, SECRET_KEY } = services.config;
    const listed = await tallyport(['server', 'list'], {
      env: { ...env, MONGODB_URI, REDIS_URL, SECRET_KEY },
    });

    expect(added).toMatchObject({ code: 0, json: { slug: 'alpha' } });
    expect(listed.stdout).toContain(String(added.json.server_id));
  });

  it('are started for the command alone where none run, and keep the data', async () => {
    const { env, dataDir } = await embedded();
    const added = await tallyport([...ADD, '--json'], { env });
    const listed = await tallyport(['server', 'list', '--json'], { env });
    const plain = await tallyport(['server', 'list'], { env });

    expect([added.code, added.stderr]).toEqual([0, '']);
    expect(plain.stderr).toBe(
      `Nothing runs on ${dataDir}: MongoDB and Redis were started for this command; set DATA_DIR if your platform keeps its data elsewhere.\n`,
    );
    expect(listed.json.servers).toEqual([expect.objectContaining({ slug: 'alpha' })]);
    await expect(readFile(join(dataDir, 'services.json'))).rejects.toThrow('ENOENT');
  });

  it('are ended when the command is interrupted', async () => {
    const { env, dataDir } = await embedded();
    await tallyport(['migrate'], { env });
    const child = spawn(process.execPath, [CLI, ...ADD], { env, stdio: 'ignore' });
    const exited = once(child, 'exit');
    const record = join(dataDir, 'services.json');
    await vi.waitUntil(
      async () => (await readFile(record, 'utf8').catch(() => '')).includes('mongod'),
      20_000,
    );
    child.kill('SIGINT');

    expect((await exited)[0]).toBe(130);
    await expect(readFile(record)).rejects.toThrow('ENOENT');
  });
});

it('a reader that leaves early is no fault', async () => {
  const env = environment({});
  const child = spawn('sh', ['-c', '"$0" "$@" | true', process.execPath, CLI, 'server', 'add', '--help'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  await once(child, 'close');

  expect(Buffer.concat(errors).toString()).toBe('');
});
