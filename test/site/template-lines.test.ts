import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript-6';
import { expect, test } from 'vitest';

/** The longest line of a template. Lines of code are shorter (`biome.json`). */
const LONGEST = 120;

/** How many lines of a file's `html` templates are too long. */
function longLines(text: string): number {
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
  const lines = text.split('\n');
  return [...inTemplates].filter((line) => (lines[line] ?? '').length > LONGEST).length;
}

test('no template has a long line', () => {
  const found = globSync('src/**/*.ts')
    .map((path) => [path, longLines(readFileSync(path, 'utf8'))] as const)
    .filter(([, lines]) => lines > 0)
    .toSorted(([one], [other]) => one.localeCompare(other));
  expect(Object.fromEntries(found)).toEqual({});
});
