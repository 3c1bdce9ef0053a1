import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { FILES, MOVING, PICTURES } from '../browser/pictures.ts';
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

test('the repository has the pictures of the list, documents show each of them, and all have a hash', () => {
  const shown = DOCUMENTS.flatMap(relativeLinks).map(({ to }) => to);
  const pictures = shown.filter((to) => to.startsWith('docs/screenshots/')).map((to) => basename(to));
  const there = readdirSync('docs/screenshots').filter((file) => file !== 'hashes.json');
  expect([...new Set(pictures)].toSorted()).toEqual(FILES.toSorted());
  expect(there.toSorted()).toEqual(FILES.toSorted());
  const hashes = JSON.parse(readFileSync('docs/screenshots/hashes.json', 'utf8')) as object;
  expect(Object.keys(hashes)).toEqual([...PICTURES.map(({ name }) => name), MOVING].toSorted());
});

test('all pictures together have less than 6 MB, the moving one less than 1 MB', () => {
  const sizes = FILES.map((file) => statSync(`docs/screenshots/${file}`).size);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(6_000_000);
  expect(statSync(`docs/screenshots/${MOVING}.webp`).size).toBeLessThan(1_000_000);
});

test('each picture of a document has a text for readers who do not see it', () => {
  const without = DOCUMENTS.flatMap(({ path, text }) =>
    [...text.matchAll(/!\[\s*\]\([^)]+\)|<img(?![^>]*\salt="[^"]+")[^>]*>/g)].map(
      ([found]) => `${path}: ${found}`,
    ),
  );
  expect(without).toEqual([]);
});

test('links are those of Markdown and of HTML', () => {
  const text =
    '[a](b.md#c) ![d](e.webp) <picture><source srcset="f.webp"><img alt="g" src="h.webp"></picture>';
  expect(relativeLinks({ path: 'ops/i.md', text }).map(({ to, anchor }) => `${to}#${anchor}`)).toEqual([
    'ops/b.md#c',
    'ops/e.webp#',
    'ops/f.webp#',
    'ops/h.webp#',
  ]);
});

test('anchors are those of GitHub', () => {
  const text =
    "# A changed `SECRET_KEY`\n\n## Users' own accounts\n\n```sh\n# no heading\n```\n\n## Figures\n\n## Figures\n";
  expect(anchorsOf(text)).toEqual(['a-changed-secret_key', 'users-own-accounts', 'figures', 'figures-1']);
});
