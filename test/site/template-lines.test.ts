import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript-6';
import { expect, test } from 'vitest';

/** The longest line of a template. Lines of code are shorter (`biome.json`). */
const LONGEST = 120;

/** Files with longer lines, and how many. A number only falls: if you shorten lines, correct it here. */
const ALLOWED: Record<string, number> = {
  'src/site/dashboard/add-server-pages.ts': 1,
  'src/site/dashboard/banner-forms.ts': 2,
  'src/site/dashboard/connect-pages.ts': 2,
  'src/site/dashboard/diagnosis-texts.ts': 1,
  'src/site/dashboard/discord-messages.ts': 6,
  'src/site/dashboard/draft-pages.ts': 1,
  'src/site/dashboard/listener-form.ts': 2,
  'src/site/dashboard/listener-settings.ts': 4,
  'src/site/dashboard/listener-test-page.ts': 2,
  'src/site/dashboard/member-pages.ts': 6,
  'src/site/dashboard/overview-page.ts': 6,
  'src/site/dashboard/ownership-proof.ts': 9,
  'src/site/dashboard/profile-pages.ts': 7,
  'src/site/dashboard/resend-range-page.ts': 5,
  'src/site/dashboard/review-pages.ts': 4,
  'src/site/dashboard/server-fields.ts': 5,
  'src/site/dashboard/server-frame.ts': 3,
  'src/site/dashboard/server-list-page.ts': 3,
  'src/site/dashboard/settings-pages.ts': 10,
  'src/site/dashboard/statistics-pages.ts': 6,
  'src/site/dashboard/token-pages.ts': 6,
  'src/site/dashboard/token-table.ts': 6,
  'src/site/dashboard/vote-filter.ts': 1,
  'src/site/dashboard/votes-page.ts': 3,
};

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

test('templates have no more long lines than before', () => {
  const found = globSync('src/**/*.ts')
    .map((path) => [path, longLines(readFileSync(path, 'utf8'))] as const)
    .filter(([, lines]) => lines > 0)
    .toSorted(([one], [other]) => one.localeCompare(other));
  expect(Object.fromEntries(found)).toEqual(ALLOWED);
});
