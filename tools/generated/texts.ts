import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript-6';
import { SHIPPED_LANGUAGES } from '../../src/language/language.ts';
import { type Generated, listed, words } from './generated.ts';

/** The functions that name English texts of the pages, each with the positions of these arguments. */
const NAMING: Record<string, number[]> = {
  t: [0],
  defineMessage: [0],
  sourceText: [0],
  explanation: [0, 1],
};

const ROOT = new URL('../../', import.meta.url);

/** All texts of the code. The command line is only in English. */
function textsOfCode(): string[] {
  const files = globSync('{src,workers}/**/*.ts', { cwd: ROOT, exclude: ['src/cli/**', 'src/language/**'] });
  const texts = files.flatMap((file) => textsIn(readFileSync(new URL(file, ROOT), 'utf8')));
  return [...new Set(texts)];
}

/** The texts that calls in a TypeScript file name: literals, also as branches of conditions and values of objects. */
export function textsIn(code: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
      const { text: name } = node.expression;
      texts.push(...(NAMING[name] ?? []).flatMap((at) => literalsOf(node.arguments[at])));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('', code, ts.ScriptTarget.Latest));
  return texts;
}

function literalsOf(node: ts.Expression | undefined): string[] {
  if (!node) return [];
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isSatisfiesExpression(node)) return literalsOf(node.expression);
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(literalsOf);
  if (ts.isBinaryExpression(node)) return [node.left, node.right].flatMap(literalsOf);
  if (ts.isObjectLiteralExpression(node))
    return node.properties.flatMap((one) =>
      ts.isPropertyAssignment(one) ? literalsOf(one.initializer) : [],
    );
  return [];
}

function sorted(texts: Record<string, string>): string {
  const entries = Object.entries(texts).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

const inEnglish = new Intl.DisplayNames('en', { type: 'language' });

/** The catalogues, sorted, and the list of English texts: `t` takes its keys, and translators' tools read it. */
export const TEXT_FILES: Generated[] = [
  ...SHIPPED_LANGUAGES.filter((language) => language !== 'en').map((language) => ({
    file: `src/language/catalogues/${language}.json`,
    make: (now: string) => sorted(JSON.parse(now)),
  })),
  {
    file: 'src/language/catalogues/en.json',
    make: () => sorted(Object.fromEntries(textsOfCode().map((text) => [text, text]))),
  },
  words('README.md', 'languages', () =>
    listed(SHIPPED_LANGUAGES.map((language) => inEnglish.of(language) ?? language)),
  ),
];
