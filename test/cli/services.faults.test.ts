import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { openServices } from '../../src/own-services/open-services.ts';
import { loadConfig } from '../../src/platform/config.ts';
import type { Variables } from '../../src/platform/environment.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startMongod, startRedis } from '../support/services.ts';
import { environment } from './environment.ts';
import { openCli, tallyport } from './tallyport.ts';
import { CLI, spawnTallyport } from './tallyport-process.ts';

/** Shorter than the minute for which other processes wait, so that a wait fails the test. */
const TEST_TIMEOUT_MS = 30_000;

/** The environment of a command with its own services in their own data folder. */
async function ownServices(): Promise<{ env: Variables; dataDir: string }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tallyport-cli-data-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const env = environment({
    MONGODB_URI: undefined,
    REDIS_URL: undefined,
    SECRET_KEY: undefined,
    DATA_DIR: dataDir,
    MONGOMS_SYSTEM_BINARY: inject('mongodBinary').path,
  });
  return { env, dataDir };
}

const ADD = ['server', 'add', '--name', 'Alpha', '--address', 'a.example', '--port', '1'];

describe('with MongoDB away', () => {
  it.each([
    ['and nothing listening', async () => 'mongodb://user:s3cret@127.0.0.1:1/none'],
    [
      'where it is stopped and silent',
      async () => {
        const mongod = await startMongod();
        onTestFinished(async () => {
          mongod.resume();
          await mongod.stop();
        });
        await mongod.pause();
        return `${mongod.uri}/none`;
      },
    ],
  ])(
    'a command tries once and says so in one line, %s',
    async (_where, address) => {
      const env = environment({ MONGODB_URI: await address() });
      const [plain, json, debug] = await Promise.all([
        tallyport(['server', 'list'], { env }),
        tallyport(['server', 'list', '--json'], { env }),
        tallyport(['server', 'list'], { env: { ...env, LOG_LEVEL: 'debug' } }),
      ]);

      expect(plain).toMatchObject({ code: 1, stdout: '' });
      expect(plain.stderr).toMatch(/^MongoDB does not answer: [^\n]+\.\n$/);
      expect(plain.stderr).not.toContain('s3cret');
      expect(json).toMatchObject({
        code: 1,
        json: { error: plain.stderr.trim(), code: 'database-away' },
        stderr: '',
      });
      expect(debug.stderr).toBe(plain.stderr);
    },
    TEST_TIMEOUT_MS,
  );
});

describe('with Redis away', () => {
  it(
    'one that is stopped and silent delays a command by seconds at most',
    async () => {
      const redis = await startRedis();
      onTestFinished(async () => {
        redis.resume();
        await redis.stop();
      });
      const cli = await openCli();
      onTestFinished(() => cli.close());
      const env = { ...cli.env, REDIS_URL: redis.url };
      await tallyport(ADD, { env });
      await redis.pause();
      const set =
        'listener set alpha --protocol votifier-v2 --host h.example --port 8192 --token abcdef012345 --json';

      expect(await tallyport(set.split(' '), { env })).toMatchObject({ code: 0, json: { state: 'active' } });
    },
    TEST_TIMEOUT_MS,
  );
});

describe('own services', () => {
  it('are those of the running platform, which keep running after the command', async () => {
    const { env, dataDir } = await ownServices();
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

  it('are started for the command alone if none run, and keep the data', async () => {
    const { env, dataDir } = await ownServices();
    const added = await spawnTallyport([...ADD, '--json'], { env });
    const listed = await tallyport(['server', 'list', '--json'], { env });
    const plain = await tallyport(['server', 'list'], { env });

    expect([added.code, added.stderr]).toEqual([0, '']);
    expect(plain.stderr).toBe(
      `No platform is running with the data in ${dataDir}: MongoDB and Redis were started for this command. Set DATA_DIR if your platform stores its data elsewhere.\n`,
    );
    expect(listed.json.servers).toEqual([expect.objectContaining({ slug: 'alpha' })]);
    await expect(readFile(join(dataDir, 'services.json'))).rejects.toThrow('ENOENT');
  });

  it('are stopped when the command is interrupted', async () => {
    const { env, dataDir } = await ownServices();
    await tallyport(['migrate'], { env });
    const child = spawn(process.execPath, [CLI, ...ADD], { env, stdio: 'ignore' });
    const exited = once(child, 'exit');
    const record = join(dataDir, 'services.json');
    await vi.waitUntil(async () => (await readFile(record, 'utf8').catch(() => '')).includes('mongod'), {
      ...EVENTUALLY,
      interval: 20,
    });
    child.kill('SIGINT');

    expect((await exited)[0]).toBe(130);
    await expect(readFile(record)).rejects.toThrow('ENOENT');
  });
});
