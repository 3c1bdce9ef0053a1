import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { importsOfOtherPages, LAYERS, layerOf, wrongImports } from './layers.ts';

const files = globSync('{src,workers}/**/*.ts');

test('every folder has its place in the order', () => {
  expect(files.filter((path) => !LAYERS.includes(layerOf(path)))).toEqual([]);
});

test('each folder imports only those before it', () => {
  expect(files.flatMap((path) => wrongImports(path, readFileSync(path, 'utf8')))).toEqual([]);
});

test('pages import no pages of another audience', () => {
  expect(files.flatMap((path) => importsOfOtherPages(path, readFileSync(path, 'utf8')))).toEqual([]);
});

test.each([
  ['src/site/public/tried.ts', '../dashboard/server-frame.ts', 'src/site/dashboard/server-frame.ts'],
  ['src/site/shared/tried.ts', '../admin/admin-frame.ts', 'src/site/admin/admin-frame.ts'],
])('an import of pages of another audience is found: %s', (path, from, imported) => {
  expect(importsOfOtherPages(path, `import { a } from '${from}';`)).toEqual([`${path} imports ${imported}`]);
});

test.each([
  ['src/votes/tried.ts', "import { vote } from '../api/v1/vote.ts';", 'src/api/v1/vote.ts'],
  ['src/servers/tried.ts', "import type { Vote } from '../votes/vote.ts';", 'src/votes/vote.ts'],
  ['src/platform/tried.ts', "export type { Server } from '../servers/server.ts';", 'src/servers/server.ts'],
  ['src/delivery/tried.ts', "const { main } = await import('../../workers/main.ts');", 'workers/main.ts'],
  ['src/site/tried.ts', "import { buildApp } from '../app.ts';", 'src/app.ts'],
])('an import that points up is found: %s, %s', (path, text, imported) => {
  expect(wrongImports(path, text)).toEqual([`${path} imports ${imported}`]);
});

test('an adapter may import a feature', () => {
  expect(wrongImports('src/cli/allowed.ts', "import { castVote } from '../votes/cast-vote.ts';")).toEqual([]);
});
