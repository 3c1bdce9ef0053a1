import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';

const run = promisify(execFile);

/** Lints one file with this text in `folder` under our rules, as `npm run lint` would, and returns what is said. */
async function lint(folder: string, text: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'tallyport-import-rule-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  await copyFile('.oxlintrc.json', join(dir, '.oxlintrc.json'));
  await mkdir(join(dir, folder), { recursive: true });
  await writeFile(join(dir, folder, 'tried.ts'), text);
  const ended = await run(resolve('node_modules/.bin/oxlint'), ['--deny-warnings'], { cwd: dir }).catch(
    (error: unknown) => error as { stdout: string },
  );
  return ended.stdout;
}

describe('The one-way import rule', () => {
  it.each([
    [
      'src/votes',
      "import { buildApp } from '../app.ts';\nexport const tried = buildApp;",
      /A feature knows no door/,
    ],
    [
      'src/delivery',
      "import { x } from '../api/v1/vote.ts';\nexport const tried = x;",
      /A feature knows no door/,
    ],
    [
      'src/servers',
      "import { x } from '../../workers/main.ts';\nexport const tried = x;",
      /A feature knows no door/,
    ],
    ['src/reviews', "import { Worker } from 'bullmq';\nexport const tried = Worker;", /no HTTP, no BullMQ/],
    [
      'src/delivery',
      "import { openPlatform as x } from '../platform.ts';\nexport const tried = x;",
      /A feature knows no door/,
    ],
    ['src/status', "import fastify from 'fastify';\nexport const tried = fastify;", /no HTTP, no BullMQ/],
  ])('refuses in %s: %s', async (folder, text, says) => {
    expect(await lint(folder, text)).toMatch(says);
  });

  it('lets a door import a feature', async () => {
    const text = "import { castVote } from '../votes/cast-vote.ts';\nexport const cast = castVote;\n";
    expect(await lint('src/cli', text)).toMatch(/Found 0 warnings and 0 errors/);
  });
});
