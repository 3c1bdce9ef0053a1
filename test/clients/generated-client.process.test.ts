import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);

/** The text of each file of a folder, by path. */
function filesOf(folder: string): Record<string, string> {
  const paths = globSync('**/*.ts', { cwd: folder }).toSorted();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

test('the generated client is the one of the present document: after a change of the API, `npm run client`', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tallyport-generated-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await run(process.execPath, ['clients/typescript/scripts/generate.ts', join(folder, 'generated')]);
  const committed = filesOf(resolve('clients/typescript/src/generated'));
  expect(Object.keys(committed)).toContain('sdk.gen.ts');
  expect(filesOf(join(folder, 'generated'))).toEqual(committed);
});
