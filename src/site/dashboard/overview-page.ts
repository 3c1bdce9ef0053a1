import type { FastifyInstance } from 'fastify';
import { defineMessage } from '../../language/t.ts';
import { isValid } from '../../servers/api-tokens.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { deck } from '../shared/deck.ts';
import { html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { shareCard } from '../shared/share-card.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { firstSteps, stepsCard } from './first-steps.ts';
import { deckOf } from './overview-cards.ts';
import { readOverview } from './overview-data.ts';
import { overviewHead, serverFacts, todoList } from './overview-head.ts';
import { serverFrame } from './server-frame.ts';
import { remarksOf } from './server-remarks.ts';
import { todoCounts } from './server-todo.ts';

const MESSAGES = {
  listed: defineMessage('Server listed. It has the last rank until its first votes.'),
  moved: defineMessage('The server has its new address.'),
  'second-added': defineMessage('The server has its second address.'),
};

/** `/dashboard/servers/<id>`: what a server's owner must do, and how it stands. */
export function overviewPage(app: FastifyInstance, { deps }: DashboardParts): void {
  const { site } = app;
  app.get('/servers/:serverId', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const seen = await readOverview(deps, server);
    const { todo, now } = seen;
    const isClaimed = seen.tokens.some((token) => token.kind === 'claim' && isValid(token, now));
    const steps = firstSteps(site.base, server, todo, {
      hasVotes: seen.votes.some(({ votes }) => votes > 0),
      isClaimed,
      now,
    });
    const remarks = remarksOf(site.base, server, todo, { steps, isClaimed, now });
    const body = html`${steps.length > 0 ? stepsCard(steps) : ''}
      ${todoList(site.base, server, { remarks, tokens: seen.tokens, hasSteps: steps.length > 0, now })}
      ${deck([
        deckOf(site.base, server, seen),
        server.hiddenAt ? '' : shareCard(site, server),
        serverFacts(server, now),
      ])}`;
    return sendPage(request, reply, {
      title: server.name,
      messages: MESSAGES,
      scripts: ['charts.js'],
      ...serverFrame({
        site,
        deps,
        server,
        now,
        part: '',
        counts: todoCounts(todo),
        head: overviewHead(site.base, server, seen),
        body,
      }),
    });
  });
}
