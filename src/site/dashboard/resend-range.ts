import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { z } from 'zod';
import { DELIVERED_RESENDS } from '../../delivery/resend-vote.ts';
import {
  countResendable,
  isResendable,
  NOT_ARRIVED,
  type ResendRange,
  resendVotes,
} from '../../delivery/resend-votes.ts';
import type { VoteSelection } from '../../votes/sent-not-confirmed.ts';
import { serverOf, userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { typedValues } from '../form.ts';
import type { Content, Html } from '../html.ts';
import { sendPage } from '../layout.ts';
import { OWNER } from '../page-route.ts';
import { button, card, facts, notice } from '../parts.ts';
import { count, counted, relative, timeText } from '../words.ts';
import type { DashboardSources } from './dashboard-sources.ts';
import { serverFrame, serverPath } from './server-frame.ts';
import { filterText, STATE_WORDS, type VoteFilter, voteQuery, wantedBy } from './vote-filter.ts';

/** One press takes so many: it is done in some seconds, and the next press goes on. */
const RESEND_BATCH_SIZE = 5_000;

/** Which votes were shown, so that those cast or ended later are not among those sent. */
const shownUntil = z.iso.datetime({ precision: 3 }).transform((text) => new Date(text));

/** `/dashboard/servers/<id>/votes/resend`: sends all votes of a filter again; it says how many before. */
export function resendRangePage(app: FastifyInstance, { platform }: DashboardSources): void {
  const { base } = app.site;

  app.get('/servers/:serverId/votes/resend', OWNER, (request, reply) => {
    const filter = resendable(voteQuery.parse(request.query));
    return ask(request, reply, filter, rangeOf(filter, platform.clock.now()));
  });

  app.post('/servers/:serverId/votes/resend', OWNER, async (request, reply) => {
    const { _id: serverId } = serverOf(request);
    const values = typedValues(request);
    const filter = resendable(voteQuery.parse(values));
    const shown = shownUntil.safeParse(values.shown);
    if (!shown.success) throw new PageError(400, 'The form was not sent whole. Load the page again.');
    const range = rangeOf(filter, shown.data);
    const by = userOf(request).email;
    const resent = await resendVotes(platform, serverId, range, by, {
      most: RESEND_BATCH_SIZE,
      forOwner: true,
    });
    if (!resent) throw new PageError(409, 'This server has no vote listener: set one first.');
    const { nextAllowedAt } = resent;
    if (nextAllowedAt) return refuse(request, reply, resent.resent, nextAllowedAt);
    if (resent.more) return ask(request, reply, filter, range, counted(resent.resent, 'vote'));
    const done = resent.resent > 0 ? 'resent' : 'nothing-to-resend';
    return reply.redirect(`${serverPath(base, serverOf(request), '/votes')}?done=${done}`, 303);
  });

  const refuse = (request: FastifyRequest, reply: FastifyReply, sent: number, nextAllowedAt: Date) => {
    const server = serverOf(request);
    const path = serverPath(base, server, '/votes');
    const now = platform.clock.now();
    const seconds = Math.ceil((nextAllowedAt.getTime() - now.getTime()) / 1_000);
    reply.header('retry-after', String(Math.max(1, seconds)));
    const sentence = `${counted(sent, 'vote')} ${sent === 1 ? 'is' : 'are'} in the line again. A server’s delivered votes can be sent again ${count(DELIVERED_RESENDS.times)} times an hour; send the others ${relative(nextAllowedAt, now)}.`;
    const body = html`${notice('attention', sentence)}
      <div class="actions"><a class="button quiet" href="${path}">Back to the votes</a></div>`;
    const page = {
      title: `Send votes again · ${server.name}`,
      body: serverFrame({ base, server, now, part: '/votes', body }),
    };
    return sendPage(request, reply, page, 429);
  };

  /** @param sent - what was sent just now, where some are left */
  const ask = async (
    request: FastifyRequest,
    reply: FastifyReply,
    filter: VoteFilter,
    range: ResendRange,
    sent?: string,
  ) => {
    const server = serverOf(request);
    const path = serverPath(base, server, '/votes');
    const found = await countResendable(platform, server._id, range, RESEND_BATCH_SIZE);
    const body = html`${sent ? notice('good', `${sent} are in the line again. There are more.`) : ''}
      ${card({ title: 'Send votes again', body: question(path, filter, range, found) })}`;
    const now = platform.clock.now();
    return sendPage(request, reply, {
      title: `Send votes again · ${server.name}`,
      body: serverFrame({ base, server, now, part: '/votes', body }),
    });
  };
}

/** Votes in the line are in no filter for sending again. */
function resendable({ state, player, since, until }: VoteFilter): VoteFilter {
  if (state && !isResendable(state)) {
    throw new PageError(400, 'These votes are in the line already: they are not put there twice.');
  }
  return { state, player, since, until };
}

function rangeOf(filter: VoteFilter, shown: Date): ResendRange {
  const { state, player, since = new Date(0), until = shown } = wantedBy(filter);
  return {
    since,
    until: until < shown ? until : shown,
    states: state ? [state] : NOT_ARRIVED,
    ...(player === undefined ? {} : { player }),
  };
}

function question(
  path: string,
  filter: VoteFilter,
  { states, player, until }: ResendRange,
  { votes, more }: { votes: number; more: boolean },
): Html {
  const back = html`<a class="button quiet" href="${path}${filterText(filter)}">${votes === 0 ? 'Back to the votes' : 'Leave them as they are'}</a>`;
  const hidden = Object.fromEntries(
    Object.entries({ ...filter, shown: until.toISOString() }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  const press = button({
    to: `${path}/resend`,
    text: votes === 1 ? 'Send 1 vote again' : `Send ${count(votes)} votes again`,
    kind: 'primary',
    hidden,
  });
  return html`<p>${votes === 0 ? 'There is no such vote to send.' : html`<strong>${counted(votes, 'vote')}${more ? ' or more' : ''}</strong> ${votes === 1 ? 'is' : 'are'} put in the line again.`}</p>
    ${facts([
      ['In the state', states.map((state) => STATE_WORDS[state]).join(' or ')],
      ['Of the player', player === undefined ? null : html`<bdi>${player}</bdi>`],
      [
        'Cast',
        `${filter.since ? `from ${filter.since}` : 'in the last 30 days'}${filter.until ? ` to ${filter.until}` : `, before ${timeText(until)}`}`,
      ],
    ])}
    ${votes === 0 ? '' : twice(states)}
    ${more ? html`<p>One press sends ${count(votes)} of them, the oldest first; then you are asked about the rest.</p>` : ''}
    <p class="soft">Votes can be sent for 30 days after they were cast; imported ones never are.</p>
    <div class="actions">${votes === 0 ? '' : press}${back}</div>`;
}

function twice(states: VoteSelection[]): Content {
  if (states.includes('delivered')) {
    return notice('attention', 'These votes were delivered: sent again, each arrives twice.');
  }
  if (states.includes('sent-not-confirmed')) {
    return notice(
      'attention',
      'The listener closed without an answer, as most Votifier v1 listeners do that take a vote: sent again, each vote that arrived arrives twice. Send only those that did not reach your game.',
    );
  }
  if (states.includes('unconfirmed')) {
    return notice('attention', 'These votes may have arrived: sent again, some may arrive twice.');
  }
  return html`<p>A vote whose earlier attempt was never answered may arrive twice; its timeline says so.</p>`;
}
