import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript-6';
import { expect, test } from 'vitest';

/** The longest line of a template. Lines of code are shorter (`biome.json`). */
const LONGEST = 120;

/** Files with longer lines, and how many. A number only falls: shorten lines, then correct it here. */
const ALLOWED: Record<string, number> = {
  'src/site/accounts/address-views.ts': 10,
  'src/site/accounts/deletion-views.ts': 11,
  'src/site/accounts/own-account-pages.ts': 10,
  'src/site/accounts/own-review-pages.ts': 4,
  'src/site/accounts/password-pages.ts': 3,
  'src/site/accounts/sign-in-pages.ts': 4,
  'src/site/accounts/sign-up-pages.ts': 2,
  'src/site/accounts/two-factor-views.ts': 7,
  'src/site/accounts/verify-email-pages.ts': 3,
  'src/site/admin/announcement-page.ts': 2,
  'src/site/admin/attention-page.ts': 4,
  'src/site/admin/audit-page.ts': 4,
  'src/site/admin/block-pages.ts': 5,
  'src/site/admin/exclusion-list.ts': 3,
  'src/site/admin/exclusion-pages.ts': 2,
  'src/site/admin/listener-page.ts': 3,
  'src/site/admin/player-exclusion-pages.ts': 1,
  'src/site/admin/profile-moderation.ts': 3,
  'src/site/admin/quarantine-card.ts': 3,
  'src/site/admin/rank-votes-card.ts': 4,
  'src/site/admin/review-pages.ts': 5,
  'src/site/admin/review-selection.ts': 1,
  'src/site/admin/server-pages.ts': 3,
  'src/site/admin/server-view.ts': 4,
  'src/site/admin/tag-pages.ts': 1,
  'src/site/admin/user-address.ts': 3,
  'src/site/admin/user-pages.ts': 4,
  'src/site/admin/users-page.ts': 2,
  'src/site/admin/vote-page.ts': 2,
  'src/site/admin/vote-pages.ts': 8,
  'src/site/error-pages.ts': 2,
  'src/site/public/complaint-page.ts': 4,
  'src/site/public/favourites-page.ts': 2,
  'src/site/public/how-ranking-works-page.ts': 15,
  'src/site/public/own-review-card.ts': 7,
  'src/site/public/privacy-page.ts': 9,
  'src/site/public/ranking-filters.ts': 10,
  'src/site/public/ranking-page.ts': 6,
  'src/site/public/ranking-table.ts': 6,
  'src/site/public/server-body.ts': 7,
  'src/site/public/server-head.ts': 7,
  'src/site/public/server-images.ts': 4,
  'src/site/public/share-image.ts': 3,
  'src/site/public/site-page.ts': 1,
  'src/site/public/sparkline.ts': 1,
  'src/site/public/star.ts': 1,
  'src/site/public/svg-text.ts': 1,
  'src/site/public/vote-form.ts': 3,
  'src/site/public/vote-result.ts': 6,
  'src/site/public/vote-weights.ts': 8,
  'src/site/public/widget.ts': 1,
  'src/site/shared/chart.ts': 6,
  'src/site/shared/contact.ts': 1,
  'src/site/shared/layout.ts': 6,
  'src/site/shared/listener-state.ts': 7,
  'src/site/shared/parts.ts': 5,
  'src/site/shared/profile-parts.ts': 3,
  'src/site/shared/rank-votes.ts': 1,
  'src/site/shared/review-parts.ts': 5,
  'src/site/shared/server-figures.ts': 3,
  'src/site/shared/share-card.ts': 4,
  'src/site/shared/vote-timeline.ts': 1,
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
