import type { FastifyInstance } from 'fastify';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { type ListenerOverview, listenerOverview } from '../../delivery/listener-overview.ts';
import { t } from '../../language/t.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import { formatVotesCursor, type VotesCursor } from '../../votes/read-votes.ts';
import { VOTE_SELECTIONS, type VoteSelection } from '../../votes/sent-not-confirmed.ts';
import { stateName } from '../../votes/state-names.ts';
import { PageError } from '../error-pages.ts';
import { OPERATOR } from '../route-options.ts';
import { pageHead } from '../shared/deck.ts';
import { queryText } from '../shared/form.ts';
import { count, duration, time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { LISTENER_TONES } from '../shared/listener-state-parts.ts';
import { badge, card, dataTable, facts, notice, pager } from '../shared/parts.ts';
import { votesCursor } from '../shared/votes-cursor.ts';
import { type AdminParts, adminPage, adminPath } from './admin-frame.ts';

const listenerPageQuery = z.object({
  state: z.enum(VOTE_SELECTIONS).optional().catch(undefined),
  from: votesCursor,
});

/** Jobs in Bull Board link to this page. */
export function adminListenerPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  app.get('/listeners/:listenerId', OPERATOR, async (request, reply) => {
    const { listenerId } = request.params as { listenerId: string };
    const { state, from } = listenerPageQuery.parse(request.query);
    const overview = /^[0-9a-f]{24}$/.test(listenerId)
      ? await listenerOverview(deps, new ObjectId(listenerId), { state, from })
      : null;
    if (!overview) {
      throw new PageError(
        404,
        'This listener does not exist. It was removed or replaced. Its votes are kept.',
      );
    }
    const now = deps.clock.now();
    return sendPage(request, reply, listenerPage({ base, overview, listenerId, state, now }));
  });
}

type Shown = { base: string; listenerId: string; state: VoteSelection | undefined };

function listenerPage(page: Shown & { overview: ListenerOverview; now: Date }): Page {
  const { base, overview, now } = page;
  const {
    server,
    next,
    listener: { state },
  } = overview;
  const older = next ? pathOf(page, page.state, next) : undefined;
  const removed = server.removed ? ', removed from the listing' : '';
  return adminPage({
    base,
    part: '/queues',
    title: `Listener of ${server.name}`,
    head: pageHead({
      title: html`Vote listener of <bdi>${server.name}</bdi>`,
      actions: badge(LISTENER_TONES[state], state),
      text: html`<a href="${adminPath(base, `/servers/${server.id}`)}">${server.slug}</a>${removed}`,
    }),
    body: html`${card({ title: 'Status', body: status(overview, now) })}
      ${card({ title: 'Votes', body: html`${filters(page)} ${votesTable(base, overview)} ${pager({ older })}` })}`,
  });
}

function status(
  { listener, reason, waiting, unconfirmed, sentNotConfirmed, oldestWaiting }: ListenerOverview,
  now: Date,
): Content {
  const { host, port, protocol, breaker, lastDelivery, state } = listener;
  const unconfirmedText = lastDelivery?.confirmed === false ? ', not confirmed' : '';
  const attempts =
    breaker.failures === 1 ? 'The last attempt' : `The last ${count(breaker.failures)} attempts`;
  const failing =
    breaker.failures > 0 ? html`<p>${attempts} failed (${breaker.code?.replaceAll('-', ' ')}).</p>` : '';
  const answer = reason?.words ? html` The listener’s answer: “<bdi>${reason.words}</bdi>”` : '';
  return [
    reason
      ? notice(
          state === 'paused' ? 'attention' : 'bad',
          html`<p>${t(reason.cause)}${answer}${reason.detail ? ` (${reason.detail})` : ''}</p>
            <p>${t(reason.advice)}</p>`,
        )
      : failing,
    facts([
      ['Since', reason ? time(reason.since) : null],
      ['Protocol', protocol],
      ['Address', host && hostAndPort(host, port)],
      ['Votes waiting', countedVotes(waiting)],
      [
        'Unconfirmed',
        unconfirmed > 0 ? `${countedVotes(unconfirmed)}, not acknowledged after the last attempt` : null,
      ],
      ['Sent, not confirmed', sentNotConfirmed > 0 ? countedVotes(sentNotConfirmed) : null],
      [
        'Oldest waiting vote',
        oldestWaiting
          ? html`${duration(now.getTime() - oldestWaiting.getTime())} old (${time(oldestWaiting)})`
          : 'none',
      ],
      ['Next test', state === 'unreachable' && breaker.nextTestAt ? time(breaker.nextTestAt) : null],
      [
        'Last delivered',
        lastDelivery ? html`${time(lastDelivery.at)}${unconfirmedText}` : 'none with these settings',
      ],
    ]),
  ];
}

function countedVotes(votes: number): string {
  return `${count(votes)}${votes >= COUNTED_AT_MOST ? ' or more' : ''}`;
}

function pathOf({ base, listenerId }: Shown, state: VoteSelection | undefined, from?: VotesCursor): string {
  const query = queryText({ state, from: from && formatVotesCursor(from) });
  return adminPath(base, `/listeners/${listenerId}${query}`);
}

function filters(shown: Shown): Html {
  const link = (state: VoteSelection | undefined) =>
    state === shown.state
      ? html`<strong aria-current="page">${state ?? 'all'}</strong>`
      : html`<a href="${pathOf(shown, state)}">${state ?? 'all'}</a>`;
  return html`<nav class="filters" aria-label="Votes by state">${[undefined, ...VOTE_SELECTIONS].map(link)}</nav>`;
}

function votesTable(base: string, { votes }: ListenerOverview): Html {
  return dataTable({
    caption: 'Votes, newest first',
    rows: votes,
    columns: [
      { title: 'Cast', cell: ({ votedAt }) => time(votedAt) },
      {
        title: 'Player',
        heads: true,
        cell: ({ id, username }) =>
          html`<a href="${adminPath(base, `/votes/${id}`)}"><bdi>${username}</bdi></a>`,
      },
      { title: 'State', cell: ({ state, confirmed }) => stateName(state, confirmed) },
      { title: 'Attempts', kind: 'number', cell: ({ attempts }) => count(attempts) },
      { title: 'Last outcome', cell: ({ code }) => code?.replaceAll('-', ' ') },
    ],
    empty: 'No votes.',
  });
}
