import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ObjectId } from 'mongodb';
import { type AttentionCounts, COUNTED_UP_TO, countAttention } from '../../../moderation/needs-attention.ts';
import { cachedFor } from '../../../platform/batching/cached-for.ts';
import { SECOND } from '../../../platform/clock.ts';
import type { AppDeps } from '../../../process/app-deps.ts';
import { createWaitingWork, type WaitingWork } from '../../../process/waiting-work.ts';
import { allValues, queryText } from '../../shared/form.ts';
import { count } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { adminPath } from '../admin-frame.ts';

/** After a decision, the process that stored it counts again at once. */
const FRESH_MS = 10 * SECOND;

export type InboxNumbers = ReturnType<typeof inboxNumbers>;

export function inboxNumbers(deps: AppDeps) {
  const cached = () => cachedFor(FRESH_MS, () => countAttention(deps));
  const waitingWork = createWaitingWork(deps);
  let counts = cached();
  return {
    async read(): Promise<{ counts: InboxCounts; work: WaitingWork }> {
      const [{ complaints, ...others }, work] = await Promise.all([counts(), waitingWork()]);
      const failed = work.jobs.filter(({ state, count }) => state === 'failed' && count > 0).length;
      const jobs = work.redisUp ? failed : undefined;
      return { counts: { ...others, reports: complaints, jobs }, work };
    },
    forget() {
      counts = cached();
    },
  };
}

export type Inbox = { app: FastifyInstance; deps: AppDeps; base: string; numbers: InboxNumbers };

export type TabPage = {
  body: Content;
  /** The number of items, if this page shows all of the tab. */
  shown?: number;
};

export type TabOf = (request: FastifyRequest, query: Record<string, string>) => Promise<TabPage>;

/** Each id once. Invalid values are ignored. */
export function pickedIds(request: FastifyRequest, most: number): ObjectId[] {
  const ids = allValues(request, 'item').flatMap((value) => value.split('-'));
  return [...new Set(ids)]
    .filter((id) => /^[0-9a-f]{24}$/.test(id))
    .slice(0, most)
    .map((id) => new ObjectId(id));
}

export function joinedIds(ids: ObjectId[]): string {
  return ids.map((id) => id.toHexString()).join('-');
}

export function numberOrZero(text: string | undefined): number {
  return /^\d{1,6}$/.test(text ?? '') ? Number(text) : 0;
}

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

/** `jobs` is undefined if Redis does not answer. */
type InboxCounts = Omit<AttentionCounts, 'complaints'> & { reports: number; jobs: number | undefined };

export function inboxPath(
  base: string,
  tab: InboxTab,
  values: Record<string, string | number | undefined> = {},
): string {
  const texts = Object.entries(values).map(([name, value]) => [name, value ? String(value) : undefined]);
  return adminPath(base, queryText({ tab, ...Object.fromEntries(texts) }));
}

/** null if all are empty. A tab whose number is unknown counts as one with items. */
export function firstTab(counts: InboxCounts): InboxTab | null {
  return TAB_NAMES.find((tab) => counts[tab] !== 0) ?? null;
}

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
