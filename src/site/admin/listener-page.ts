import type { FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { type ListenerOverview, listenerOverview } from '../../delivery/listener-overview.ts';
import { VOTE_SELECTIONS, type VoteSelection } from '../../votes/sent-not-confirmed.ts';
import type { VotesFrom } from '../../votes/vote-pages.ts';
import { LISTENER_TONES } from '../dashboard/listener-state.ts';
import { PageError } from '../error-pages.ts';
import type { Content, Html } from '../html.ts';
import { type Page, sendPage } from '../layout.ts';
import { OPERATOR } from '../page-route.ts';
import { badge, card, dataTable, facts, notice, pager } from '../parts.ts';
import { votesFrom, votesFromText } from '../votes-from.ts';
import { count, duration, time } from '../words.ts';
import { adminFrame, adminPath } from './admin-frame.ts';
import type { AdminSources } from './admin-sources.ts';

/** What stands behind the `?` of a listener's page; what cannot be read counts as absent. */
const listenerPageQuery = z.object({
  state: z.enum(VOTE_SELECTIONS).optional().catch(undefined),
  from: votesFrom,
});

/** `/operator/listeners/:listenerId`: where the queues' jobs lead to. */
export function listenerPages(app: FastifyInstance, { platform }: AdminSources): void {
  const { base } = app.site;
  app.get('/listeners/:listenerId', OPERATOR, async (request, reply) => {
    const { listenerId } = request.params as { listenerId: string };
    const { state, from } = listenerPageQuery.parse(request.query);
    const overview = /^[0-9a-f]{24}$/.test(listenerId)
      ? await listenerOverview(platform, new ObjectId(listenerId), { state, from })
      : null;
    if (!overview) {
      throw new PageError(
        404,
        'There is no such listener: it was removed, or set anew under another id. Its votes are kept.',
      );
    }
    const now = platform.clock.now();
    return sendPage(request, reply, listenerPage({ base, overview, listenerId, state, now }));
  });
}

/** How a listener fares and the newest of its votes. */
function listenerPage(page: {
  base: string;
  overview: ListenerOverview;
  listenerId: string;
  state: VoteSelection | undefined;
  now: Date;
}): Page {
  const { base, overview, now } = page;
  const { server, next } = overview;
  const older = next ? address(page, { state: page.state, from: next }) : undefined;
  return {
    title: `Listener of ${server.name}`,
    body: adminFrame({
      base,
      part: '/queues',
      head: html`<div class="page-head">
        <div>
          <h1>Vote listener of <bdi>${server.name}</bdi></h1>
          <p class="soft">
            <a href="${adminPath(base, `/servers/${server.id}`)}">${server.slug}</a>${server.removed ? ', removed from the listing' : ''}
          </p>
        </div>
      </div>`,
      body: html`${card({ title: 'Standing', actions: standingBadge(overview), body: status(overview, now) })}
      ${card({ title: 'Votes', body: html`${filters(page)} ${votesTable(overview)} ${pager({ older })}` })}`,
    }),
  };
}

function standingBadge({ listener: { state } }: ListenerOverview): Html {
  return badge(LISTENER_TONES[state], state);
}

function status(
  { listener, reason, waiting, unconfirmed, sentNotConfirmed, oldestWaiting }: ListenerOverview,
  now: Date,
): Content {
  const { host, port, protocol, breaker, lastDelivery, state } = listener;
  const unsaid = lastDelivery?.confirmed === false ? ', not confirmed' : '';
  const failing =
    breaker.failures > 0
      ? html`<p>It failed ${breaker.failures === 1 ? 'once' : `${count(breaker.failures)} times in a row`} (${breaker.code?.replaceAll('-', ' ')}).</p>`
      : '';
  return [
    reason
      ? notice(
          state === 'paused' ? 'attention' : 'bad',
          html`<p>${reason.cause}${reason.words ? html` It said: «<bdi>${reason.words}</bdi>»` : ''}${reason.detail ? ` (${reason.detail})` : ''}</p>
            <p>${reason.mend}</p>`,
        )
      : failing,
    facts([
      ['Since', reason ? time(reason.since) : null],
      ['Protocol', protocol],
      ['Address', host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`],
      ['Votes waiting', countedVotes(waiting)],
      ['Unconfirmed', unconfirmed > 0 ? `${countedVotes(unconfirmed)}, given up without an answer` : null],
      ['Sent, not confirmed', sentNotConfirmed > 0 ? countedVotes(sentNotConfirmed) : null],
      [
        'The oldest of them',
        oldestWaiting
          ? html`${duration(now.getTime() - oldestWaiting.getTime())} old (${time(oldestWaiting)})`
          : 'none',
      ],
      ['Next test', state === 'unreachable' && breaker.nextTestAt ? time(breaker.nextTestAt) : null],
      ['Last delivered', lastDelivery ? html`${time(lastDelivery.at)}${unsaid}` : 'none with these settings'],
    ]),
  ];
}

function countedVotes(votes: number): string {
  return `${count(votes)}${votes >= COUNTED_AT_MOST ? ' or more' : ''}`;
}

type Shown = { base: string; listenerId: string; state: VoteSelection | undefined };

function address(
  { base, listenerId }: Shown,
  query: { state?: VoteSelection | undefined; from?: VotesFrom },
): string {
  const { state, from } = query;
  const parameters = new URLSearchParams({
    ...(state ? { state } : {}),
    ...(from ? { from: votesFromText(from) } : {}),
  });
  const text = parameters.toString();
  return `${adminPath(base, `/listeners/${listenerId}`)}${text ? `?${text}` : ''}`;
}

function filters(shown: Shown): Html {
  const link = (state: VoteSelection | undefined) =>
    state === shown.state
      ? html`<strong aria-current="page">${state ?? 'all'}</strong>`
      : html`<a href="${address(shown, { state })}">${state ?? 'all'}</a>`;
  return html`<nav class="filters" aria-label="Votes by state">${[undefined, ...VOTE_SELECTIONS].map(link)}</nav>`;
}

function votesTable({ votes }: ListenerOverview): Html {
  return dataTable({
    caption: 'Votes, newest first',
    rows: votes,
    columns: [
      { title: 'Cast', cell: ({ votedAt }) => time(votedAt) },
      { title: 'Player', heads: true, cell: ({ username }) => html`<bdi>${username}</bdi>` },
      {
        title: 'State',
        cell: ({ state, confirmed }) => (confirmed === false ? 'sent, not confirmed' : state),
      },
      { title: 'Attempts', kind: 'number', cell: ({ attempts }) => count(attempts) },
      { title: 'Newest end', cell: ({ code }) => code?.replaceAll('-', ' ') },
      { title: 'Id', cell: ({ id }) => html`<code>${id}</code>` },
    ],
    empty: 'There are none.',
  });
}
