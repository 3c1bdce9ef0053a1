import { type AttentionCounts, COUNTED_UP_TO } from '../../../moderation/attention-counts.ts';
import { queryText } from '../../shared/form.ts';
import { count } from '../../shared/format.ts';
import { type Html, html } from '../../shared/html.ts';
import { adminPath } from '../admin-frame.ts';

/** The tabs of the inbox, in their order. */
export const INBOX_TABS = {
  held: 'Held votes',
  reviews: 'Reviews',
  reports: 'Reports',
  listeners: 'Listeners down',
  servers: 'New servers',
  figures: 'Unusual figures',
  jobs: 'Failed jobs',
} as const;

export type InboxTab = keyof typeof INBOX_TABS;
export const TAB_NAMES = Object.keys(INBOX_TABS) as InboxTab[];

/** The number of items in each tab. `jobs` is undefined if Redis does not answer. */
export type InboxCounts = Omit<AttentionCounts, 'complaints'> & { reports: number; jobs: number | undefined };

/** The path of a tab. `values` are further query parameters. */
export function inboxPath(
  base: string,
  tab: InboxTab,
  values: Record<string, string | undefined> = {},
): string {
  return adminPath(base, queryText({ tab, ...values }));
}

/** The first tab that has an item, or whose number is unknown; null if all are empty. */
export function firstTab(counts: InboxCounts): InboxTab | null {
  return TAB_NAMES.find((tab) => counts[tab] !== 0) ?? null;
}

/** The navigation with the tabs and their numbers of items. An empty tab shows no number. */
export function inboxTabs(base: string, counts: InboxCounts, current: InboxTab | null): Html {
  return html`<nav class="tabs inbox-tabs" aria-label="What needs attention">
    ${TAB_NAMES.map((tab) => {
      const here = tab === current ? html`aria-current="page"` : '';
      const emptiness = counts[tab] === 0 ? 'none' : '';
      const number = numberOf(counts[tab]);
      return html`<a href="${inboxPath(base, tab)}" class="${emptiness}" ${here}>${INBOX_TABS[tab]}${number}</a>`;
    })}
  </nav>`;
}

function numberOf(value: number | undefined) {
  if (value === 0) return '';
  const text = value === undefined ? '?' : value >= COUNTED_UP_TO ? `${COUNTED_UP_TO - 1}+` : count(value);
  return html` <span class="number-of">${text}</span>`;
}
