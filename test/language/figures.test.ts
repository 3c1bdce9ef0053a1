import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript-6';
import { expect, test } from 'vitest';

const SOURCES = new URL('../../src/', import.meta.url);

const TIMES = 'hour|day|minute|second|month|week|year';
const COUNTED =
  'vote|server|player|account|listener|token|character|field|link|call|pixel|time|[KM]i?B\\b|million';
const WORDS = 'two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|sixty';
const BETWEEN = '(?:(?:more|whole|full|earlier|UTC) )?';

/** A number with a unit (“30 days”, “24-hour”, “16 KiB”), or a number word with a unit of time (“three days”). */
const FIGURE = new RegExp(
  `(?<![\\w.,{])(?:\\d[\\d,.]*(?: ${BETWEEN}(?:(?:${TIMES}|${COUNTED})s|[KM]i?B\\b|million)|-(?:${TIMES})\\b)` +
    `|(?:${WORDS}) ${BETWEEN}(?:${TIMES})s)`,
  'i',
);

/** Figures that no constant of ours decides: why not, the files, and parts of the texts. */
const NO_RULE: [why: string, files: string[], texts: string[]][] = [
  [
    'how long people need',
    ['site/public/list-parts.ts', 'site/dashboard/server-cards.ts'],
    ['in two minutes'],
  ],
  ['the game', ['site/public/list-texts.ts'], ['rounds of two minutes']],
  ['scripts/voted.js decides', ['site/stored-data.ts'], ['The last 12 servers', 'a server for 30 days']],
  [
    'an example, calculated beside it',
    ['site/public/vote-weights.ts'],
    ['A vote party of 200', 'A large server that joins', 'A video brings 370 players', 'A small server: 12'],
  ],
  ['an example', ['site/styleguide/styleguide-page.ts'], ['At most 60 characters.']],
  ['a year', ['site/admin/figure-measures.ts'], ['12 months']],
  ['names of ranges, beside their keys', ['site/public/server-page-data.ts'], ['48 hours', '30 days']],
  ['names of buckets, beside their keys', ['site/admin/figure-tables.ts'], [' minutes', ' hours']],
  ['the pattern beside it', ['platform/config-values.ts'], ['is not a text of at most 40 characters']],
  ['advice, or the game', ['site/dashboard/banner-forms.ts'], ['best 1,200 × 300', '64 × 64 pixels']],
  ['a limit of MongoDB', ['backup/take-backup.ts'], ['for 5 minutes']],
  ['the size of a download', ['own-services/find-mongod.ts'], ['some 100 MB']],
  ['a limit of Node', ['listeners/outcomes/websites.ts'], ['are longer than 16 KiB']],
];

/** The texts of a TypeScript file with a figure in them. What `satisfies` compares with a constant is none. */
function figuresIn(code: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isTypeNode(node)) return;
    if (ts.isSatisfiesExpression(node) && ts.isStringLiteralLike(node.expression)) return;
    const isText =
      ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText && FIGURE.test(node.text)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  if (FIGURE.test(code)) visit(ts.createSourceFile('', code, ts.ScriptTarget.Latest));
  return found;
}

const figures = globSync('**/*.ts', { cwd: SOURCES.pathname, exclude: ['demo.ts', 'demo/**'] }).flatMap(
  (file) => figuresIn(readFileSync(new URL(file, SOURCES), 'utf8')).map((text) => ({ file, text })),
);

test('a figure in a sentence comes from the constant that decides it', () => {
  const isException = (of: { file: string; text: string }) =>
    NO_RULE.some(
      ([, files, texts]) => files.includes(of.file) && texts.some((part) => of.text.includes(part)),
    );
  expect(figures.filter((figure) => !isException(figure))).toEqual([]);
});

test('every exception is needed', () => {
  const unused = NO_RULE.flatMap(([, files, texts]) =>
    texts.filter((part) => !figures.some(({ file, text }) => files.includes(file) && text.includes(part))),
  );
  expect(unused).toEqual([]);
});

test('figures are found in literals and templates, not in comments', () => {
  expect(figuresIn("t('Wait 30 days.'); // 24 hours")).toEqual(['Wait 30 days.']);
  expect(figuresIn(`const a = \`within \${b} of three days\``)).toEqual([' of three days']);
  expect(figuresIn(`const a = \`\${b} days, 24 \`.trim()`)).toEqual([]);
  expect(figuresIn(`const a = '16 KiB' satisfies \`\${typeof b} KiB\``)).toEqual([]);
});
