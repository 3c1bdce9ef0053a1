/**
 * `npm run test:changed`: runs those tests of `npm test` that a change can reach. A change is what the checkout has
 * beyond the branch `main`, uncommitted and new files included.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { graphOf, importsOf } from '../test/import-graph.ts';

const HELP = `npm run test:changed -- [COMMIT] [--full] [vitest's options]

Runs the tests that import what has changed since COMMIT (main), directly or through others, or that name it by its
path: scripts of pages, documents, processes that they spawn. Tests that read whole folders are not found by what is
in them. They are tests of npm test; --full takes the slow, process
and browser files too.`;

const ONLY_FAST = ['--exclude', 'test/**/*.{slow,process,browser,faults}.test.ts'];
const FULL = ['--exclude', 'test/**/*.faults.test.ts'];

/** A string that may be the path of a file, from the root or from the file that has the string. */
const PATH = /['"`]([\w@./-]+\.\w+)['"`]/g;

const args = process.argv.slice(2);
if (args.includes('--help')) {
  console.log(HELP);
  process.exit(0);
}
const commit = args[0] && !args[0].startsWith('-') ? (args.shift() ?? '') : 'main';
const options = args.filter((arg) => arg !== '--full');

const changed = changedSince(commit);
const named = filesThatName(changed);
console.log(
  `${changed.size} files have changed since ${commit}; ${named.length} others name them by their path.`,
);
const { status } = spawnSync(
  'vitest',
  [
    'related',
    '--run',
    '--passWithNoTests',
    ...options,
    ...(args.includes('--full') ? FULL : ONLY_FAST),
    ...changed,
    ...named,
  ],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;

function changedSince(base: string): Set<string> {
  const since = mergeBase(base) ?? mergeBase(`origin/${base}`);
  if (!since) {
    console.error(`There is no commit ${base} to compare with. Name one: npm run test:changed -- COMMIT`);
    process.exit(2);
  }
  return new Set([
    ...git('diff', '--name-only', '--no-renames', since),
    ...git('ls-files', '--others', '--exclude-standard'),
  ]);
}

function mergeBase(commit: string): string | undefined {
  const { status, stdout } = spawnSync('git', ['merge-base', commit, 'HEAD'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function git(...command: string[]): string[] {
  return execFileSync('git', [...command, '-z'], { encoding: 'utf8' })
    .split('\0')
    .filter(Boolean);
}

/** The TypeScript files that name a changed file in a string, or a program that loads one: vitest sees only imports. */
function filesThatName(changes: Set<string>): string[] {
  const reaches = new Map<string, boolean>();
  const isReached = (path: string) => {
    if (!path.endsWith('.ts')) return changes.has(path);
    const known = reaches.get(path) ?? [...graphOf(path).keys()].some((loaded) => changes.has(loaded));
    reaches.set(path, known);
    return known;
  };
  return git('ls-files', '*.ts').filter((file) => {
    if (!existsSync(file) || file.startsWith('bench/')) return false;
    const imported = importsOf(file);
    const paths = [...readFileSync(file, 'utf8').matchAll(PATH)]
      .filter(([, path = '']) => !imported.includes(path))
      .flatMap(([, path = '']) => [normalize(path), normalize(join(dirname(file), path))])
      .filter((path) => path !== file && !path.startsWith('..') && (changes.has(path) || existsSync(path)));
    return paths.some(isReached);
  });
}
