import type { FastifyInstance } from 'fastify';
import type { WaitingWork } from '../../process/waiting-work.ts';
import { OPERATOR } from '../route-options.ts';
import { queryOf } from '../shared/form.ts';
import { type Content, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { card, notice } from '../shared/parts.ts';
import { adminFrame, adminPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { figuresTab } from './inbox/figures-tab.ts';
import { heldTab } from './inbox/held-tab.ts';
import { hidingForms } from './inbox/hide-server.ts';
import { inboxNumbers, type TabOf } from './inbox/inbox.ts';
import { firstTab, INBOX_TABS, type InboxTab, inboxPath, inboxTabs, TAB_NAMES } from './inbox/inbox-tabs.ts';
import { jobsTab } from './inbox/jobs-tab.ts';
import { listenersTab } from './inbox/listeners-tab.ts';
import { reportsTab } from './inbox/reports-tab.ts';
import { reviewsTab } from './inbox/reviews-tab.ts';
import { serversTab } from './inbox/servers-tab.ts';
import { openVotes, queueTable } from './queue-figures.ts';
import { setUpCard } from './set-up-list.ts';

const REDIS_DOWN =
  'Redis does not answer. Votes are still accepted and stored in MongoDB. They will be forwarded when Redis is back.';

/** `/operator`: the inbox, with a tab for each kind of item. Without a tab in the query: the first one with an item. */
export function attentionPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const numbers = inboxNumbers(deps);
  const inbox = { app, deps, base, numbers };
  hidingForms(inbox);
  const tabs: Record<InboxTab, TabOf> = {
    held: heldTab(inbox),
    reviews: reviewsTab(inbox),
    reports: reportsTab(inbox),
    listeners: listenersTab(inbox),
    servers: serversTab(inbox),
    figures: figuresTab(inbox),
    jobs: jobsTab(inbox),
  };

  app.get('/', OPERATOR, async (request, reply) => {
    const query = queryOf(request);
    const [{ counts, work }, setUp] = await Promise.all([numbers.read(), setUpCard(deps, app.site)]);
    const tab = TAB_NAMES.find((one) => one === query.tab) ?? firstTab(counts);
    const content = tab ? await tabs[tab](request, query) : null;
    const shown = tab && content?.shown !== undefined ? { ...counts, [tab]: content.shown } : counts;
    return sendPage(request, reply, {
      title: tab ? `Attention: ${INBOX_TABS[tab]}` : 'Admin area',
      scripts: ['inbox.js'],
      styles: ['inbox.css'],
      ...adminFrame({
        base,
        part: '',
        body: html`${troubles(work)}${setUp}
          <p class="for-readers" role="status" data-said></p>
          <div class="inbox" data-inbox>${inboxTabs(base, shown, tab)} ${content?.body ?? nothing(base, work)}</div>`,
      }),
    });
  });

  // Earlier versions had the page of reports at this path: redirect, so that bookmarks still work.
  app.get('/complaints', OPERATOR, async (_request, reply) =>
    reply.redirect(inboxPath(base, 'reports'), 301),
  );
}

function troubles({ redisUp, mongodbUp }: WaitingWork): Content {
  return html`${redisUp ? '' : notice('attention', REDIS_DOWN)}
    ${mongodbUp ? '' : notice('bad', 'MongoDB is slow or does not answer. New votes may be refused.')}`;
}

function nothing(base: string, work: WaitingWork): Content {
  return html`${notice('good', 'Nothing needs your attention.')}
    ${card({ title: 'Undelivered votes', body: openVotes(work) })}
    ${card({
      title: 'Queues',
      actions: html`<a class="button quiet" href="${adminPath(base, '/queues')}">Open queues</a>`,
      body: queueTable(work),
    })}`;
}
