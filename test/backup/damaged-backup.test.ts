import { cp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { checkBackup } from '../../src/backup/restore-backup.ts';
import { takeBackup } from '../../src/backup/take-backup.ts';
import { deliveryBench } from '../support/delivering.ts';
import { newFolder } from './new-folder.ts';

const NONE = () => undefined;

let whole: string;

beforeAll(async () => {
  const { deps } = await deliveryBench();
  whole = await newFolder();
  await takeBackup(deps, whole);
});

/** A copy of a whole backup. */
async function backup(): Promise<string> {
  const folder = await newFolder();
  await cp(whole, folder, { recursive: true });
  return folder;
}

test('a whole backup is accepted', async () => {
  expect(await checkBackup(await backup(), NONE)).toMatchObject({ format: 1 });
});

test.each([
  ['a file is missing', 'backup-damaged', (folder: string) => rm(join(folder, 'servers.bson.gz'))],
  ['a file is cut', 'backup-damaged', (folder: string) => truncate(join(folder, 'servers.bson.gz'), 30)],
  ['a byte has changed', 'backup-damaged', (folder: string) => changeByte(join(folder, 'servers.bson.gz'))],
  ['the manifest is missing', 'no-backup', (folder: string) => rm(join(folder, 'manifest.json'))],
  [
    'the manifest is no JSON',
    'backup-damaged',
    (folder: string) => writeFile(join(folder, 'manifest.json'), '{'),
  ],
  [
    'the manifest names a file elsewhere',
    'backup-damaged',
    (folder: string) => edit(folder, '"servers.bson.gz"', '"../x.bson.gz"'),
  ],
  [
    'the manifest has an option of a view',
    'backup-damaged',
    (folder: string) => edit(folder, '"options": {}', '"options": { "viewOn": "users" }'),
  ],
  ['the format is unknown', 'newer-backup', (folder: string) => edit(folder, '"format": 1', '"format": 2')],
  [
    'it has a migration of a later version',
    'newer-backup',
    (folder: string) => edit(folder, '0001-complete-servers', '0999-later'),
  ],
])('a backup is refused before anything is restored when %s', async (_what, code, damage) => {
  const folder = await backup();
  await damage(folder);
  await expect(checkBackup(folder, NONE)).rejects.toMatchObject({ name: 'BackupError', code });
});

test.each([
  ['"format": 1', '"format": "1"', '“format” is wrong (Invalid input: expected 1)'],
  [
    '"isSnapshot": false',
    '"isSnapshot": 0',
    '“isSnapshot” is wrong (Invalid input: expected boolean, received number)',
  ],
  ['"name": "servers"', '"name": "sessions"', '.name” is wrong (is not part of a backup)'],
  ['"name": "servers"', '"name": "votes"', '“collections” is wrong (has a name twice)'],
])('a manifest with a wrong field is refused with one sentence: %s as %s', async (from, to, reason) => {
  const folder = await backup();
  await edit(folder, from, to);
  const error = await checkBackup(folder, NONE).catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ code: 'backup-damaged' });
  const { message } = error as Error;
  expect(message.startsWith(`The file manifest.json of “${folder}” is damaged: its field “`)).toBe(true);
  expect(message.endsWith(`${reason}.`)).toBe(true);
  expect(message).not.toContain('\n');
});

async function changeByte(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  await writeFile(path, bytes);
}

async function edit(folder: string, from: string, to: string): Promise<void> {
  const path = join(folder, 'manifest.json');
  const text = await readFile(path, 'utf8');
  expect(text).toContain(from);
  await writeFile(path, text.replace(from, to));
}
