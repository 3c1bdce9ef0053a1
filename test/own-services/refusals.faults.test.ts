import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { openServices } from '../../src/own-services/open-services.ts';
import { freshDataFolder } from './data-folder.ts';
import { bareMachine } from './machine.ts';

const quiet = () => undefined;

describe('data of another version', () => {
  test('data of an older mongod is not opened', async () => {
    const data = await freshDataFolder();
    await mkdir(join(data.dir, 'mongodb'));
    await writeFile(join(data.dir, 'mongodb', 'version'), 'mongod 4.4\n');
    await expect(openServices(data.config(), quiet, data.env)).rejects.toThrow(
      new RegExp(
        `^The data in ${data.dir}/mongodb was written by mongod 4\\.4, which alone can open it, but .+ is mongod \\d\\.\\d; put mongod 4\\.4 on PATH, or move that folder away: Tallyport then begins with an empty database\\.$`,
      ),
    );
  });

  test('data of Redis is not opened by Valkey', async () => {
    const data = await freshDataFolder();
    const first = await openServices(data.config(), quiet, data.env);
    await first.close();
    const machine = await bareMachine();
    await machine.addPython();
    await expect(
      openServices(data.config(), quiet, {
        ...machine.env,
        MONGOMS_SYSTEM_BINARY: inject('mongodBinary').path,
      }),
    ).rejects.toThrow(
      /redis was written by redis \d\.\d, which alone can open it, but there is no redis-server on PATH/,
    );
    await expect(data.record()).rejects.toThrow('ENOENT');
  });
});

test('when Redis does not start, mongod is stopped again', async () => {
  const data = await freshDataFolder();
  await mkdir(join(data.dir, 'redis', 'data', 'appendonlydir'), { recursive: true });
  await writeFile(
    join(data.dir, 'redis', 'data', 'appendonlydir', 'appendonly.aof.manifest'),
    'not a manifest',
  );
  await expect(openServices(data.config(), quiet, data.env)).rejects.toThrow(
    /^Redis \(.+\) exited during its start: exit code 1.* Delete .+\/redis\/data: it holds no votes\.$/s,
  );
  await expect(data.record()).rejects.toThrow('ENOENT');
  const again = await readFile(join(data.dir, 'mongodb', 'log'), 'utf8');
  expect(again).toMatch(/Now exiting/);
});

test('the error for a data folder that cannot be made is one sentence', async () => {
  const data = await freshDataFolder();
  await writeFile(join(data.dir, 'file'), '');
  await expect(
    openServices(data.config({ DATA_DIR: join(data.dir, 'file', 'x') }), quiet, data.env),
  ).rejects.toThrow(
    /^The data folder cannot be made \(ENOTDIR: .+\): set DATA_DIR to one that you may write\.$/,
  );
});

test.skipIf(process.platform !== 'linux').each(['/proc/nope', '/proc/nope/deeper', '/proc/1/x', '/proc'])(
  'so is one in %s, where nothing can be made',
  async (dir) => {
    const data = await freshDataFolder();
    await expect(openServices(data.config({ DATA_DIR: dir }), quiet, data.env)).rejects.toThrow(
      /^The data folder cannot be (made|written) \(E.+\): set DATA_DIR to one that you may write\.$/,
    );
  },
);

test('a damaged key is not replaced by a new one', async () => {
  const data = await freshDataFolder();
  await writeFile(join(data.dir, 'secret-key'), '');
  await expect(openServices(data.config(), quiet, data.env)).rejects.toThrow(
    /secret-key has no key: restore/,
  );
});
