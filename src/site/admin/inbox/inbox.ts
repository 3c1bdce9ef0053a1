import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ObjectId } from 'mongodb';
import { type AttentionCounts, countAttention } from '../../../moderation/needs-attention.ts';
import { cachedFor } from '../../../platform/batching/cached-for.ts';
import { SECOND } from '../../../platform/clock.ts';
import type { AppDeps } from '../../../process/app-deps.ts';
import { createServices, type Services } from '../../../process/waiting-work.ts';
import { allValues, queryOf, queryText } from '../../shared/form.ts';
import type { Content, Html } from '../../shared/html.ts';
import type { IconName } from '../../shared/icon.ts';
import { adminPath } from '../admin-frame.ts';

/** After a decision, the process that stored it counts again at once. */
const FRESH_MS = 10 * SECOND;

export type InboxNumbers = ReturnType<typeof inboxNumbers>;

export function inboxNumbers(deps: AppDeps) {
  const cached = () => cachedFor(FRESH_MS, () => countAttention(deps));
  const services = createServices(deps);
  let counts = cached();
  return {
    async read(): Promise<{ counts: InboxCounts; work: Services }> {
      const [{ complaints, ...others }, work] = await Promise.all([counts(), services()]);
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

type KindNames = { title: string; one: string; icon: IconName };

/** `one`: an item of the kind, for screen readers. */
export const INBOX_KINDS = {
  held: { title: 'Held votes', one: 'Held votes', icon: 'shield-alert' },
  reviews: { title: 'Reviews', one: 'Review', icon: 'star' },
  reports: { title: 'Reports', one: 'Report', icon: 'flag' },
  listeners: { title: 'Listeners', one: 'Listener', icon: 'unplug' },
  servers: { title: 'New servers', one: 'New server', icon: 'server' },
  figures: { title: 'Figures', one: 'Unusual figure', icon: 'chart-line' },
  jobs: { title: 'Jobs', one: 'Failed jobs', icon: 'layers' },
} as const satisfies Record<string, KindNames>;

export type KindName = keyof typeof INBOX_KINDS;
export const INBOX_KIND_NAMES = Object.keys(INBOX_KINDS) as KindName[];

/** `jobs` is undefined if Redis does not answer. */
export type InboxCounts = Omit<AttentionCounts, 'complaints'> & { reports: number; jobs: number | undefined };

/** A line of the list, and the pane beside it. */
export type InboxItem = {
  kind: KindName;
  /** Unique within its kind. */
  id: string;
  /** Null if nothing says since when. */
  at: Date | null;
  /** The value of the check box, which the form of the selected sends, and its name for screen readers. */
  select?: { value: string; of: string };
  what: Content;
  where: Content;
  /** The heading of the pane, and the line below it. */
  title: Content;
  since: Content;
  body: Content;
  /** At most two buttons, with `keyed`, and one link. */
  actions: Content;
};

/** What a list of the inbox asks its kinds for. */
export type InboxView = {
  now: Date;
  /** Of the newest items; a kind without it shows what it shows on its own page. */
  limit?: number;
  from?: string | undefined;
  /** The address of a form below `/attention`, which leads back to this list. */
  to(path: string): string;
};

export type KindOfItem = {
  /** What the decision named by the query did. */
  result(query: Record<string, string>): Promise<Content>;
  /** `next`: where the next page begins. */
  read(view: InboxView): Promise<{ items: InboxItem[]; next?: string | null; about?: Content }>;
  empty: string;
  /** The form that decides about the selected items. */
  many?(view: InboxView): Html;
  below?(): Promise<Content>;
};

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

/** `in`: the list of all kinds. */
const ALL = 'all';

export const isOfAll = (query: Record<string, string>) => query.tab === undefined || query.in === ALL;

export function formAddress(base: string, isAll: boolean): (path: string) => string {
  return (path) => adminPath(base, `/attention${path}${isAll ? queryText({ in: ALL }) : ''}`);
}

type Values = Record<string, string | number | undefined>;

export function inboxPath(base: string, tab: KindName | undefined, values: Values = {}): string {
  const texts = Object.entries(values).map(([name, value]) => [name, value ? String(value) : undefined]);
  return adminPath(base, queryText({ tab, ...Object.fromEntries(texts) }));
}

/** After a decision: the list in which it was made, which says what the decision did. */
export function backToList(request: FastifyRequest, base: string, tab: KindName, values: Values): string {
  return inboxPath(base, tab, { in: queryOf(request).in === ALL ? ALL : undefined, ...values });
}
