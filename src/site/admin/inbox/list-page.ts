import { type Content, html } from '../../shared/html.ts';
import { cursorPager } from '../../shared/parts.ts';
import { adminPath } from '../admin-frame.ts';
import type { TabPage } from './inbox.ts';
import type { InboxTab } from './inbox-tabs.ts';

/**
 * One page of a tab whose list has several pages. `from`: the cursor of this page, undefined for the first; `next`: the
 * cursor of the next page; `count`: how many items this page has.
 */
export function listPage(
  base: string,
  tab: InboxTab,
  body: Content,
  { from, next, count }: { from: string | undefined; next: string | null; count: number },
): TabPage {
  const pages = cursorPager(adminPath(base), { from, next }, { tab });
  return { body: html`${body} ${pages}`, ...(from || next ? {} : { shown: count }) };
}
