import type { FastifyInstance } from 'fastify';
import type { Services } from '../../process/waiting-work.ts';
import { OPERATOR } from '../route-options.ts';
import type { Site } from '../shared/decorate-site.ts';
import { emptyLine, emptyState } from '../shared/empty-card.ts';
import { queryOf } from '../shared/form.ts';
import { type Content, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { cursorPager, notice } from '../shared/parts.ts';
import type { RailCount } from '../shared/rail.ts';
import { type AdminParts, adminPage, adminPath } from './admin-frame.ts';
import { figuresKind } from './inbox/figures-kind.ts';
import { heldKind } from './inbox/held-kind.ts';
import {
  formAddress,
  INBOX_KIND_NAMES,
  INBOX_KINDS,
  type InboxCounts,
  type InboxItem,
  type InboxView,
  inboxNumbers,
  inboxPath,
  isOfAll,
  type KindName,
  type KindOfItem,
} from './inbox/inbox.ts';
import { hidingForms } from './inbox/inbox-decisions.ts';
import { inboxList, kindLinks, listFoot, sumOf } from './inbox/inbox-parts.ts';
import { jobsKind } from './inbox/jobs-kind.ts';
import { listenersKind } from './inbox/listeners-kind.ts';
import { reportsKind } from './inbox/reports-kind.ts';
import { reviewsKind } from './inbox/reviews-kind.ts';
import { serversKind } from './inbox/servers-kind.ts';
import { setUpLine } from './set-up-page.ts';

const REDIS_DOWN =
  'Redis does not answer. Votes are still accepted and stored in MongoDB. They will be forwarded when Redis is back.';

/** The list of all kinds has the newest ones of each. */
const MOST_OF_KIND = 12;

type Kinds = Record<KindName, KindOfItem>;

export function attentionPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const numbers = inboxNumbers(deps);
  const inbox = { app, deps, base, numbers };
  hidingForms(inbox);
  const kinds: Kinds = {
    held: heldKind(inbox),
    reviews: reviewsKind(inbox),
    reports: reportsKind(inbox),
    listeners: listenersKind(inbox),
    servers: serversKind(inbox),
    figures: figuresKind(inbox),
    jobs: jobsKind(inbox),
  };

  app.get('/', OPERATOR, async (request, reply) => {
    const query = queryOf(request);
    const named = INBOX_KIND_NAMES.find((one) => one === query.tab);
    const kind = isOfAll(query) ? undefined : named;
    const view = { now: deps.clock.now(), from: query.from, to: formAddress(base, kind === undefined) };
    const { counts, work } = await numbers.read();
    const list = kind
      ? await listOf(base, kinds, kind, view)
      : await listOfAll(app.site, kinds, counts, view);
    const shown = { ...counts, ...list.shown };
    const page = adminPage({
      base,
      part: '',
      title: kind ? `Inbox: ${INBOX_KINDS[kind].title}` : 'Inbox',
      scripts: ['inbox.js'],
      counts: railCounts(shown, work),
      body: html`${troubles(work)}${kind ? '' : await setUpLine(deps, app.site)}
          <p class="for-readers" role="status" data-said></p>
          <div class="inbox" data-inbox>${kindLinks(base, shown, kind)}
            ${named ? await kinds[named].result(query) : ''} ${list.body}</div>`,
    });
    return sendPage(request, reply, page);
  });

  // Earlier versions had the page of reports at this path: redirect, so that bookmarks still work.
  app.get('/complaints', OPERATOR, async (_request, reply) =>
    reply.redirect(inboxPath(base, 'reports'), 301),
  );
}

/** `shown`: the numbers of the kinds that the list has whole. */
type List = { body: Content; shown: Partial<InboxCounts> };

async function listOf(base: string, kinds: Kinds, name: KindName, view: InboxView): Promise<List> {
  const kind = kinds[name];
  const { items, next, about } = await kind.read(view);
  const { from } = view;
  const body = html`${about ? html`<p class="soft small">${about}</p>` : ''}
    ${
      items.length === 0
        ? emptyLine(from || next ? 'No item begins on this page.' : kind.empty)
        : html`${inboxList(items, view.now)} ${listFoot(inboxPath(base, name), view.now)}
            <div class="bulks">${kind.many?.(view) ?? ''}</div>`
    }
    ${cursorPager(adminPath(base), { from, next: next ?? null }, { tab: name })}
    ${(await kind.below?.()) ?? ''}`;
  return { body, shown: from || next ? {} : { [name]: items.length } };
}

async function listOfAll(site: Site, kinds: Kinds, counts: InboxCounts, view: InboxView): Promise<List> {
  const { base } = site;
  const names = INBOX_KIND_NAMES.filter((name) => counts[name]);
  const newest = { ...view, from: undefined, limit: MOST_OF_KIND };
  const read = await Promise.all(
    names.map(async (name) => {
      const { items, next } = await kinds[name].read(newest);
      const some = newestFirst(items).slice(0, MOST_OF_KIND);
      return { name, items: some, isWhole: !next && some.length === items.length };
    }),
  );
  const items = newestFirst(read.flatMap((one) => one.items));
  const more = read.filter(({ isWhole }) => !isWhole).map(({ name }) => name);
  const shown = Object.fromEntries(
    read.filter(({ isWhole }) => isWhole).map((one) => [one.name, one.items.length]),
  );
  if (items.length === 0) return { body: nothing(site, counts), shown };
  const many = read.map(({ name, items }) => (items.length > 0 ? (kinds[name].many?.(view) ?? '') : ''));
  const body = html`${inboxList(items, view.now)}
    ${more.length > 0 ? html`<p class="soft small">The newest ${MOST_OF_KIND} of ${moreLinks(base, more)}.</p>` : ''}
    ${listFoot(adminPath(base), view.now)} <div class="bulks">${many}</div>`;
  return { body, shown };
}

/** Items without a time are last. */
function newestFirst(items: InboxItem[]): InboxItem[] {
  return items.toSorted((one, other) => (other.at?.getTime() ?? 0) - (one.at?.getTime() ?? 0));
}

function moreLinks(base: string, names: KindName[]): Content {
  return names.map(
    (name, i) => html`${i > 0 ? ', ' : ''}<a href="${inboxPath(base, name)}">${INBOX_KINDS[name].title}</a>`,
  );
}

function nothing(site: Site, { jobs }: InboxCounts): Content {
  const text = jobs === undefined ? 'Nothing else needs you.' : 'Nothing needs you.';
  return html`<div class="card">${emptyState(
    site,
    html`<p><b>${text}</b></p><p class="soft">What needs a decision appears here by itself.</p>`,
    html`<a class="button quiet" href="${adminPath(site.base, '/audit')}">Audit log</a>`,
  )}</div>`;
}

function troubles({ redisUp, mongodbUp }: Services): Content {
  return html`${redisUp ? '' : notice('attention', REDIS_DOWN)}
    ${mongodbUp ? '' : notice('bad', 'MongoDB is slow or does not answer. New votes may be refused.')}`;
}

/** The inbox has what is grey already. */
function railCounts(counts: InboxCounts, { jobs }: Services): Record<string, RailCount> {
  const failed = jobs.filter(({ state }) => state === 'failed').reduce((sum, job) => sum + job.count, 0);
  return {
    '': { number: sumOf(counts), tone: 'attention', meaning: 'to decide' },
    '/votes': { number: counts.held, tone: 'quiet', meaning: 'held' },
    '/servers': { number: counts.servers, tone: 'quiet', meaning: 'new' },
    '/reviews': { number: counts.reviews, tone: 'quiet', meaning: 'waiting' },
    '/queues': { number: failed, tone: 'bad', meaning: 'failed jobs' },
  };
}
