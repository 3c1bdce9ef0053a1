import type { FastifyInstance } from 'fastify';
import type { WithId } from 'mongodb';
import { deliveriesByDay } from '../../delivery/figures/delivery-figures.ts';
import { hoursOfDay, uptimeDays } from '../../history/history.ts';
import { serverInfo } from '../../history/server-info.ts';
import { defineMessage } from '../../language/t.ts';
import { addDays, dayOf } from '../../platform/periods/period-marks.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { ranksAfter } from '../../ranking/rank-snapshots.ts';
import { readAnswered } from '../../reviews/read-reviews.ts';
import { isValid, listTokens } from '../../servers/api-tokens.ts';
import type { Server } from '../../servers/server.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { pageOfVotes } from '../../votes/read-votes.ts';
import { votesByDay } from '../../votes/vote-figures.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { deck } from '../shared/deck.ts';
import { html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { shareCard } from '../shared/share-card.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { firstSteps, stepsCard } from './first-steps.ts';
import { deckOf } from './overview-cards.ts';
import { overviewHead, serverFacts, todoList } from './overview-head.ts';
import { RANK_CHANGE_DAYS } from './server-cards.ts';
import { serverFrame } from './server-frame.ts';
import { remarksOf } from './server-remarks.ts';
import { readTodos, todoCounts } from './server-todo.ts';

const MESSAGES = {
  listed: defineMessage('Server listed. It has the last rank until its first votes.'),
  moved: defineMessage('The server has its new address.'),
};

/** Four gates of five strokes. */
const NEWEST_VOTES = 20;
const NEWEST_REVIEWS = 2;

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

export type Overview = Awaited<ReturnType<typeof readOverview>>;

async function readOverview(deps: AppDeps, server: WithId<Server>) {
  const id = server._id;
  const now = deps.clock.now();
  const today = dayOf(now);
  const [todoOf, info, tokens, reviews, page, votes, deliveries, ranks, hours, hoursBefore, uptime] =
    await Promise.all([
      readTodos(deps, [server]),
      serverInfo(deps, server),
      listTokens(deps, id),
      readAnswered(deps, id, { page: 1, limit: NEWEST_REVIEWS }),
      pageOfVotes(deps, id, { limit: NEWEST_VOTES }),
      votesByDay(deps, id, 2 * RANKING_DAYS),
      deliveriesByDay(deps, id, RANKING_DAYS),
      ranksAfter(deps, [id], addDays(today, -RANK_CHANGE_DAYS)),
      hoursOfDay(deps, id, today),
      hoursOfDay(deps, id, addDays(today, -7)),
      uptimeDays(deps, id),
    ]);
  return {
    now,
    today,
    todo: todoOf(id),
    info,
    tokens,
    reviews,
    newest: page.votes,
    votes: votes.slice(RANKING_DAYS),
    votesBefore: votes.slice(0, RANKING_DAYS),
    deliveries: deliveries.days,
    rankBefore: ranks.get(id.toHexString()),
    hours,
    hoursBefore,
    uptime,
  };
}
