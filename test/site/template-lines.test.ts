import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript-6';
import { expect, test } from 'vitest';

/** The maximum length of a line in a template. Lines of code are shorter (`biome.json`). */
const LONGEST = 120;

/** The numbers of the lines in `html` templates of a file that are too long. */
function longLines(text: string): number[] {
  const lines = text.split('\n');
  const isLong = (line: number) => (lines[line] ?? '').length > LONGEST;
  // A file without long lines need not be parsed. Most files have none.
  if (!lines.some((_, line) => isLong(line))) return [];
  const file = ts.createSourceFile('page.ts', text, ts.ScriptTarget.Latest);
  const inTemplates = new Set<number>();
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node) => {
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText(file) === 'html') {
      for (let line = lineAt(node.getStart(file)); line <= lineAt(node.end); line += 1) inTemplates.add(line);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return [...inTemplates].filter(isLong).map((line) => line + 1);
}

test('no line of a template is over 120 characters', () => {
  const found = globSync('src/**/*.ts').flatMap((path) =>
    longLines(readFileSync(path, 'utf8')).map((line) => `${path}:${line}`),
  );
  expect(found).toEqual([]);
  const text = `const page = html\`<p>${'a'.repeat(LONGEST)}</p>\`;\n// ${'b'.repeat(LONGEST)}`;
  expect(longLines(text)).toEqual([1]);
});
