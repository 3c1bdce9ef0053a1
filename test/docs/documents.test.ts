import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { LAYERS } from '../layers.ts';
import { anchorsOf, DOCUMENTS, filesInComments, namedFiles, namedPaths, relativeLinks } from './documents.ts';

/** What only changed long ago keeps its old names. */
const CURRENT = DOCUMENTS.filter(({ path }) => path !== 'CHANGELOG.md');

const CODE = globSync([
  '{src,workers,bench,ops}/**/*.{ts,js,yml,yaml,tpl,sh,json}',
  'test/**/*.ts',
  '*.yml',
  '.env.example',
]);

test('every path that a document names exists', () => {
  const missing = CURRENT.flatMap(({ path, text }) =>
    namedPaths(text)
      .filter((named) => !existsSync(named) && !existsSync(join(dirname(path), named)))
      .map((named) => `${path} names ${named}`),
  );
  expect(missing).toEqual([]);
});

test('every TypeScript file that a document names exists', () => {
  const files = globSync('{src,workers,test,bench,tools,clients/typescript/{src,scripts}}/**/*.ts').map(
    (file) => `/${file}`,
  );
  files.push('/vitest.config.ts');
  const missing = CURRENT.flatMap(({ path, text }) =>
    namedFiles(text)
      .filter((named) => !files.some((file) => file.endsWith(`/${named}`)))
      .map((named) => `${path} names ${named}`),
  );
  expect(missing).toEqual([]);
});

test('every relative link of a document leads to a file and to a heading of it', () => {
  const broken = DOCUMENTS.flatMap(relativeLinks)
    .filter(
      ({ to, anchor }) =>
        !existsSync(to) || (anchor && !anchorsOf(readFileSync(to, 'utf8')).includes(anchor)),
    )
    .map(({ from, to, anchor }) => `${from} links to ${to}${anchor && `#${anchor}`}`);
  expect(broken).toEqual([]);
});

test('code and configuration name only documents that exist', () => {
  const missing = CODE.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/(?<![\w/.-])docs\/[\w/-]+\.md\b/g)]
      .filter(([named]) => !existsSync(named))
      .map(([named]) => `${path} names ${named}`),
  );
  expect(missing).toEqual([]);
});

test('comments name only files that exist', () => {
  const files = globSync('{src,workers,test,bench,tools}/**/*.ts').map((file) => `/${file}`);
  const missing = globSync('{src,workers}/**/*.ts').flatMap((path) =>
    filesInComments(readFileSync(path, 'utf8'))
      .filter((named) => !files.some((file) => file.endsWith(`/${named}`)))
      .map((named) => `${path} names ${named}`),
  );
  expect(missing).toEqual([]);
});

test('every npm script that a document names exists', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const missing = CURRENT.flatMap(({ path, text }) =>
    [...text.matchAll(/npm run (?:-s )?([a-z][a-z:-]*)/g)]
      .filter(([, name = '']) => !(name in scripts))
      .map(([command]) => `${path} names ${command}`),
  );
  expect(missing).toEqual([]);
});

test('CONTRIBUTING has a row for each folder, in the order of imports', () => {
  const rows = [...readFileSync('CONTRIBUTING.md', 'utf8').matchAll(/^\| `([\w-]+)\/` \|/gm)].map(
    ([, folder]) => folder,
  );
  expect(rows).toEqual(LAYERS.filter((layer) => layer !== 'entry points'));
});

test('the decisions are all in the list of decisions', () => {
  const listed = relativeLinks({
    path: 'docs/adr/README.md',
    text: readFileSync('docs/adr/README.md', 'utf8'),
  });
  const decisions = globSync('docs/adr/[0-9]*.md');
  expect(
    listed
      .map(({ to }) => to)
      .filter((to) => decisions.includes(to))
      .toSorted(),
  ).toEqual(decisions.toSorted());
});

test('the repository has the screenshots that documents show, and no others', () => {
  const kept = [...readFileSync('.gitignore', 'utf8').matchAll(/^!(docs\/screenshots\/.+)$/gm)].map(
    ([, path = '']) => path,
  );
  const shown = DOCUMENTS.flatMap(relativeLinks).map(({ to }) => to);
  const pictures = shown.filter((to) => to.startsWith('docs/screenshots/'));
  expect(kept.toSorted()).toEqual([...new Set(pictures)].toSorted());
});

test('anchors are those of GitHub', () => {
  const text =
    "# A changed `SECRET_KEY`\n\n## Users' own accounts\n\n```sh\n# no heading\n```\n\n## Figures\n\n## Figures\n";
  expect(anchorsOf(text)).toEqual(['a-changed-secret_key', 'users-own-accounts', 'figures', 'figures-1']);
});
