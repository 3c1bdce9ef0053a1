import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ObjectId } from 'mongodb';
import { countAttention } from '../../../moderation/attention-counts.ts';
import { cachedFor } from '../../../platform/batching/cached-for.ts';
import { SECOND } from '../../../platform/clock.ts';
import type { AppDeps } from '../../../process/app-deps.ts';
import { createWaitingWork, type WaitingWork } from '../../../process/waiting-work.ts';
import { allValues } from '../../shared/form.ts';
import type { Content } from '../../shared/html.ts';
import type { InboxCounts } from './inbox-tabs.ts';

/** How long a process caches the counts. After a decision, the process that stored it counts again. */
const FRESH_MS = 10 * SECOND;

/** The numbers of the tabs, and the waiting work. `forget` drops the cached numbers. */
export type InboxNumbers = {
  read(): Promise<{ counts: InboxCounts; work: WaitingWork }>;
  forget(): void;
};

export function inboxNumbers(deps: AppDeps): InboxNumbers {
  const cached = () => cachedFor(FRESH_MS, () => countAttention(deps));
  const waitingWork = createWaitingWork(deps);
  let counts = cached();
  return {
    async read() {
      const [{ complaints, ...others }, work] = await Promise.all([counts(), waitingWork()]);
      return { counts: { ...others, reports: complaints, jobs: failedOf(work) }, work };
    },
    forget() {
      counts = cached();
    },
  };
}

function failedOf({ redisUp, jobs }: WaitingWork): number | undefined {
  if (!redisUp) return undefined;
  return jobs.filter(({ state, count }) => state === 'failed' && count > 0).length;
}

/** What each tab of the inbox gets. */
export type Inbox = { app: FastifyInstance; deps: AppDeps; base: string; numbers: InboxNumbers };

export type TabPage = {
  body: Content;
  /** The number of items in the tab, if this page shows all of them. */
  shown?: number;
};

export type TabOf = (request: FastifyRequest, query: Record<string, string>) => Promise<TabPage>;

/** The ids of the selected items, each once, at most `most`. Invalid values are ignored. */
export function pickedIds(request: FastifyRequest, most: number): ObjectId[] {
  const ids = allValues(request, 'item').flatMap((value) => value.split('-'));
  return [...new Set(ids)]
    .filter((id) => /^[0-9a-f]{24}$/.test(id))
    .slice(0, most)
    .map((id) => new ObjectId(id));
}

/** Joins ids to one value of a form field or query parameter. `pickedIds` splits it. */
export function joinedIds(ids: ObjectId[]): string {
  return ids.map((id) => id.toHexString()).join('-');
}

/** The value of a query parameter as a number; 0 if it is not a whole number of up to six digits. */
export function numberOrZero(text: string | undefined): number {
  return /^\d{1,6}$/.test(text ?? '') ? Number(text) : 0;
}
