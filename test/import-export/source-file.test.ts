import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { openSourceFile, type SourceFile } from '../../src/import-export/source-file.ts';

const nothing = () => Readable.from([]);

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tallyport-source-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** What the file holds, when it is read twice. */
async function readTwice(source: SourceFile): Promise<[string, string]> {
  onTestFinished(() => source.close());
  const read = () => text(Readable.from(source.read()));
  return [await read(), await read()];
}

it('a file is read twice', async () => {
  const file = join(await freshFolder(), 'votes');
  await writeFile(file, 'one\ntwo\n');
  const source = await openSourceFile(file, nothing());

  expect(source.size).toBe(8);
  expect(await readTwice(source)).toEqual(['one\ntwo\n', 'one\ntwo\n']);
});

it('standard input is read twice, and leaves nothing behind', async () => {
  const copies = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('tallyport-import-'));
  const before = await copies();
  const source = await openSourceFile('-', Readable.from([Buffer.from('one\n'), Buffer.from('two\n')]));

  expect(await copies()).toEqual(before);
  expect(source.size).toBe(8);
  expect(await readTwice(source)).toEqual(['one\ntwo\n', 'one\ntwo\n']);
});

it('a pipe is read twice', async () => {
  const pipe = join(await freshFolder(), 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  const [source] = await Promise.all([openSourceFile(pipe, nothing()), writeFile(pipe, 'one\n')]);

  expect(await readTwice(source)).toEqual(['one\n', 'one\n']);
});

it('a folder and a file that is not there are no files', async () => {
  const folder = await freshFolder();

  await expect(openSourceFile(folder, nothing())).rejects.toThrow('EISDIR');
  await expect(openSourceFile(join(folder, 'nowhere'), nothing())).rejects.toThrow('ENOENT');
});
