import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);

const REFUSED: [folder: string, text: string, says: RegExp][] = [
  ['src/reviews', "import { Worker } from 'bullmq';\nexport const tried = Worker;", /no HTTP, no BullMQ/],
  ['src/history', "import fastify from 'fastify';\nexport const tried = fastify;", /no HTTP, no BullMQ/],
  ['src/votes', "import type { B } from './tried-3.ts';\nexport type A = B[];", /cycle/],
  ['src/votes', "import type { A } from './tried-2.ts';\nexport type B = A | null;", /cycle/],
];
const ALLOWED = "import { castVote } from '../votes/cast-vote.ts';\nexport const cast = castVote;\n";

let dir: string;
let messages: { help: string; filename: string }[];

/** Lints all of them in one run under our rules, as `npm run lint` would. */
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tallyport-import-rule-'));
  await copyFile('.oxlintrc.json', join(dir, '.oxlintrc.json'));
  const files = REFUSED.map(([folder, text], number) => ({ folder, name: `tried-${number}.ts`, text }));
  for (const { folder, name, text } of [...files, { folder: 'src/cli', name: 'allowed.ts', text: ALLOWED }]) {
    await mkdir(join(dir, folder), { recursive: true });
    await writeFile(join(dir, folder, name), text);
  }
  const args = ['--deny-warnings', '--format=json'];
  const ended = await run(resolve('node_modules/.bin/oxlint'), args, { cwd: dir }).catch(
    (error: unknown) => error as { stdout: string },
  );
  messages = JSON.parse(ended.stdout).diagnostics;
});
afterAll(() => rm(dir, { recursive: true }));

/** What is said of a file. */
function saidOf(path: string): string[] {
  return messages.filter(({ filename }) => filename.endsWith(path)).map(({ help }) => help);
}

describe('The one-way import rule', () => {
  it.each(
    REFUSED.map((one, number) => [...one, number] as const),
  )('refuses in %s: %s', (folder, _, says, number) => {
    expect(saidOf(`${folder}/tried-${number}.ts`)).toEqual([expect.stringMatching(says)]);
  });

  it('lets an adapter import a feature', () => {
    expect(saidOf('src/cli/allowed.ts')).toEqual([]);
  });
});
