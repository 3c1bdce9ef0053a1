import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { DELIVERED_RESENDS } from '../../delivery/resend-vote.ts';
import {
  countResendable,
  isResendable,
  NOT_ARRIVED,
  type ResendRange,
  resendVotes,
} from '../../delivery/resend-votes.ts';
import { t } from '../../language/t.ts';
import { RESENDABLE_DAYS } from '../../listeners/delivery-limits.ts';
import type { VoteSelection } from '../../votes/sent-not-confirmed.ts';
import { STATE_NAMES } from '../../votes/state-names.ts';
import { PageError } from '../error-pages.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { alternatives, count, counted, relative, timeText } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { button, card, facts, linkTo, notice } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { serverFrame } from './server-frame.ts';
import { filterText, type VoteFilter, voteQuery, wantedBy } from './votes-page.ts';

/** One request sends at most this many votes again, which takes some seconds. A further request sends the next ones. */
const RESEND_BATCH_SIZE = 5_000;

/** A filter of votes. `twice`: only votes that are left out otherwise (`ResendRange`). */
const resendQuery = voteQuery.extend({ twice: z.literal('only').optional().catch(undefined) });

type ResendFilter = VoteFilter & Pick<ResendRange, 'twice'>;

/** `/dashboard/servers/<id>/votes/resend`: says how many votes a filter selects, and sends them again if confirmed. */
export function resendRangePage(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;

  app.get('/servers/:serverId/votes/resend', OWNER, async (request, reply) => {
    const filter = resendable(resendQuery.parse(request.query));
    return sendPage(request, reply, await question(request, filter, rangeOf(filter, deps.clock.now())));
  });

  formRoute(app, {
    path: '/servers/:serverId/votes/resend',
    access: OWNER,
    // `shown`: the time of the confirmation page. Votes that were cast later are not sent again.
    schema: resendQuery.extend({
      shown: z.iso.datetime({ precision: 3 }).transform((text) => new Date(text)),
    }),
    run: async ({ request, reply, server, user, by, path, data: { shown, ...wanted } }) => {
      const filter = resendable(wanted);
      const range = rangeOf(filter, shown);
      const limits = { most: RESEND_BATCH_SIZE, forOwner: true, byId: user._id };
      const resent = await resendVotes(deps, server._id, range, by, limits);
      if (!resent) return refused(409, t('This server has no vote listener. Set one up first.'));
      const { nextAllowedAt } = resent;
      if (nextAllowedAt) {
        const seconds = Math.ceil((nextAllowedAt.getTime() - deps.clock.now().getTime()) / 1_000);
        reply.header('retry-after', String(Math.max(1, seconds)));
        return { page: tooManyPage(request, resent.resent, nextAllowedAt), status: 429 };
      }
      if (resent.more) return { page: question(request, filter, range, counted(resent.resent, 'vote')) };
      const done = resent.resent > 0 ? 'resent' : 'nothing-to-resend';
      return `${path('/votes')}?done=${done}`;
    },
  });

  const pageOf = (request: FastifyRequest, body: Content): Page => {
    const server = serverOf(request);
    const now = deps.clock.now();
    return {
      title: t('Send votes again · {server}', { server: server.name }),
      ...serverFrame({ site: app.site, deps, server, now, part: '/votes', body }),
    };
  };

  const tooManyPage = (request: FastifyRequest, sent: number, nextAllowedAt: Date): Page => {
    const sentence = t(
      '{votes} queued again. You can send {times} delivered votes again per hour. Send the others {time}.',
      {
        votes: counted(sent, 'vote'),
        times: count(DELIVERED_RESENDS.times),
        time: relative(nextAllowedAt, deps.clock.now()),
      },
    );
    const path = serverPath(base, serverOf(request), '/votes');
    return pageOf(
      request,
      html`${notice('attention', sentence)}
        <div class="actions"><a class="button quiet" href="${path}">${t('Back to votes')}</a></div>`,
    );
  };

  const question = async (
    request: FastifyRequest,
    filter: ResendFilter,
    range: ResendRange,
    sent?: string,
  ): Promise<Page> => {
    const server = serverOf(request);
    const path = serverPath(base, server, '/votes');
    const count = (more: Partial<ResendRange>) =>
      countResendable(deps, server._id, { ...range, ...more }, RESEND_BATCH_SIZE);
    const [found, others] = await Promise.all([count({}), filter.twice ? null : count({ twice: 'only' })]);
    const leftOut = others && leftOutText(others, `${path}/resend${filterText(filter, { twice: 'only' })}`);
    return pageOf(
      request,
      html`${sent ? notice('good', t('{sent} queued again. There are more.', { sent })) : ''}
        ${card({ title: t('Send votes again'), body: questionBody(path, filter, range, found, leftOut) })}`,
    );
  };
}

/** Returns the filter if its votes can be sent again. @throws {PageError} 400 if they are already queued */
function resendable({ state, player, since, until, twice }: ResendFilter): ResendFilter {
  if (state && !isResendable(state)) {
    throw new PageError(400, t('These votes are already queued.'));
  }
  return { state, player, since, until, twice };
}

function rangeOf(filter: ResendFilter, shown: Date): ResendRange {
  const { state, player, since = new Date(0), until = shown } = wantedBy(filter);
  return {
    since,
    until: until < shown ? until : shown,
    states: state ? [state] : NOT_ARRIVED,
    ...(player === undefined ? {} : { player }),
    twice: filter.twice,
  };
}

function leftOutText({ votes, more }: { votes: number; more: boolean }, href: string): Content {
  if (votes === 0) return '';
  const shown = { a: linkTo(href), votes: more ? `${counted(votes, 'vote')} +` : counted(votes, 'vote') };
  return html`<p>${t('Not sent with these: <a>{votes} that may have arrived or that plugins claimed</a>.', shown)}</p>`;
}

function questionBody(
  path: string,
  filter: ResendFilter,
  { states, player, until, twice }: ResendRange,
  { votes, more }: { votes: number; more: boolean },
  leftOut: Content,
): Html {
  const hidden = Object.fromEntries(
    Object.entries({ ...filter, shown: until.toISOString() }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  const sendButton = button({
    to: `${path}/resend`,
    text: t('Send {votes, plural, one {# vote} other {# votes}} again', { votes }),
    kind: 'primary',
    hidden,
  });
  const first = t('The first {votes} are sent first, oldest first. You can then send the rest.', {
    votes: count(votes),
  });
  const warning = duplicateWarning(states, twice);
  const arrival = warning
    ? notice('attention', warning)
    : html`<p>${t('These votes surely did not arrive.')}</p>`;
  return html`<p>${howMany(votes, more)}</p>
    ${facts([
      [t('State'), alternatives(states.map((state) => t(STATE_NAMES[state])))],
      [t('Player'), player === undefined ? null : html`<bdi>${player}</bdi>`],
      [t('Cast'), castText(filter, until)],
    ])}
    ${votes === 0 ? '' : arrival}
    ${leftOut}
    ${more ? html`<p>${first}</p>` : ''}
    <p class="soft">${t(
      'You can send votes for {days} days after they were cast. Imported votes are never sent.',
      {
        days: RESENDABLE_DAYS,
      },
    )}</p>
    <div class="actions">
      ${votes === 0 ? '' : sendButton}
      <a class="button quiet" href="${path}${filterText(filter)}">
        ${votes === 0 ? t('Back to votes') : t('Cancel')}
      </a>
    </div>`;
}

function howMany(votes: number, more: boolean): Content {
  if (votes === 0) return t('No matching votes to send.');
  const shown = { votes: counted(votes, 'vote') };
  return more
    ? t('<strong>{votes}</strong> or more will be queued again.', shown)
    : t('<strong>{votes}</strong> will be queued again.', shown);
}

function castText({ since, until }: VoteFilter, before: Date): string {
  const from = since ? t('from {since}', { since }) : t('in the last {days} days', { days: RESENDABLE_DAYS });
  return until
    ? `${from} ${t('to {until}', { until })}`
    : `${from}, ${t('before {time}', { time: timeText(before) })}`;
}

function duplicateWarning(states: VoteSelection[], twice: ResendRange['twice']): string | null {
  if (twice)
    return t('These votes may have arrived, or plugins claimed them. Their players may be rewarded twice.');
  if (states.includes('delivered')) return t('These votes were delivered. Each will arrive twice.');
  if (states.includes('sent-not-confirmed'))
    return t(
      'Nothing confirmed these votes, as with most Votifier v1 listeners. Votes that have arrived will arrive twice. Send only votes that did not reach your game.',
    );
  if (states.includes('unconfirmed')) return t('These votes may have arrived. Some may arrive twice.');
  return null;
}
