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
import type { VoteSelection } from '../../votes/sent-not-confirmed.ts';
import { STATE_NAMES } from '../../votes/state-names.ts';
import { PageError } from '../error-pages.ts';
import { serverOf, userOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { count, counted, oneOf, relative, timeText } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { button, card, facts, linkTo, notice } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { serverFrame } from './server-frame.ts';
import { filterText, type VoteFilter, voteQuery, wantedBy } from './vote-filter.ts';

/** One request sends at most this many votes again, which takes some seconds. A further request sends the next ones. */
const RESEND_BATCH_SIZE = 5_000;

/** The time at which the confirmation page was shown. Votes cast later are not sent again. */
const shownUntil = z.iso.datetime({ precision: 3 }).transform((text) => new Date(text));

/** A filter of votes. `claimed`: only votes that a plugin claimed, which are left out otherwise. */
const resendQuery = voteQuery.extend({ claimed: z.literal('only').optional().catch(undefined) });

type ResendFilter = VoteFilter & { claimed?: 'only' | undefined };

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
    schema: resendQuery.extend({ shown: shownUntil }),
    run: async ({ request, reply, data: { shown, ...wanted } }) => {
      const { _id: serverId } = serverOf(request);
      const filter = resendable(wanted);
      const range = rangeOf(filter, shown);
      const user = userOf(request);
      const limits = { most: RESEND_BATCH_SIZE, forOwner: true, byId: user._id };
      const resent = await resendVotes(deps, serverId, range, user.email, limits);
      if (!resent) return refused(409, t('This server has no vote listener. Set one up first.'));
      const { nextAllowedAt } = resent;
      if (nextAllowedAt) {
        const seconds = Math.ceil((nextAllowedAt.getTime() - deps.clock.now().getTime()) / 1_000);
        reply.header('retry-after', String(Math.max(1, seconds)));
        return { page: tooManyPage(request, resent.resent, nextAllowedAt), status: 429 };
      }
      if (resent.more) return { page: question(request, filter, range, counted(resent.resent, 'vote')) };
      const done = resent.resent > 0 ? 'resent' : 'nothing-to-resend';
      return `${serverPath(base, serverOf(request), '/votes')}?done=${done}`;
    },
  });

  const pageOf = (request: FastifyRequest, body: Content): Page => {
    const server = serverOf(request);
    const now = deps.clock.now();
    return {
      title: t('Send votes again · {server}', { server: server.name }),
      body: serverFrame({ site: app.site, server, now, part: '/votes', body }),
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

  /** The page that asks for confirmation. `sent`: how many votes the previous request sent, such as `5,000 votes`. */
  const question = async (
    request: FastifyRequest,
    filter: ResendFilter,
    range: ResendRange,
    sent?: string,
  ): Promise<Page> => {
    const server = serverOf(request);
    const path = serverPath(base, server, '/votes');
    const count = (others: Partial<ResendRange>) =>
      countResendable(deps, server._id, { ...range, ...others }, RESEND_BATCH_SIZE);
    const [found, uncertain, claimed] = await Promise.all([
      count({}),
      isSurelyNotArrived(range) ? count({ states: ['unconfirmed'] }) : { votes: 0 },
      filter.claimed ? { votes: 0 } : count({ claimed: 'only' }),
    ]);
    const others = leftOut(
      { uncertain: uncertain.votes, claimed: claimed.votes },
      {
        uncertain: `${path}/resend${filterText({ ...filter, state: 'unconfirmed' })}`,
        claimed: `${path}/resend${filterText(filter, { claimed: 'only' })}`,
      },
    );
    return pageOf(
      request,
      html`${sent ? notice('good', t('{sent} queued again. There are more.', { sent })) : ''}
        ${card({ title: t('Send votes again'), body: questionBody(path, filter, range, found, others) })}`,
    );
  };
}

/** Returns the filter if its votes can be sent again. @throws {PageError} 400 if they are already queued */
function resendable({ state, player, since, until, claimed }: ResendFilter): ResendFilter {
  if (state && !isResendable(state)) {
    throw new PageError(400, t('These votes are already queued.'));
  }
  return { state, player, since, until, claimed };
}

function rangeOf(filter: ResendFilter, shown: Date): ResendRange {
  const { state, player, since = new Date(0), until = shown } = wantedBy(filter);
  return {
    since,
    until: until < shown ? until : shown,
    states: state ? [state] : NOT_ARRIVED,
    ...(player === undefined ? {} : { player }),
    ...(filter.claimed ? { claimed: filter.claimed } : {}),
  };
}

/** Whether a range has only votes that surely did not arrive. */
function isSurelyNotArrived({ states }: ResendRange): boolean {
  return states.every((state) => NOT_ARRIVED.some((one) => one === state));
}

/** Names the votes that a selection leaves out, with links to the pages that send them. */
function leftOut(
  found: { uncertain: number; claimed: number },
  links: { uncertain: string; claimed: string },
): Content {
  const votesOf = (votes: number) => counted(votes, 'vote');
  return [
    found.uncertain > 0 &&
      t('Not sent with these: <a>{votes} that may have arrived</a>.', {
        a: linkTo(links.uncertain),
        votes: votesOf(found.uncertain),
      }),
    found.claimed > 0 &&
      t('Not sent with these: <a>{votes} that plugins claimed</a>.', {
        a: linkTo(links.claimed),
        votes: votesOf(found.claimed),
      }),
  ].map((sentence) => sentence && html`<p>${sentence}</p>`);
}

function questionBody(
  path: string,
  filter: ResendFilter,
  { states, player, until, claimed }: ResendRange,
  { votes, more }: { votes: number; more: boolean },
  others: Content,
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
  return html`<p>${howMany(votes, more)}</p>
    ${facts([
      [t('State'), oneOf(states.map((state) => t(STATE_NAMES[state])))],
      [t('Player'), player === undefined ? null : html`<bdi>${player}</bdi>`],
      [t('Cast'), castText(filter, until)],
    ])}
    ${votes === 0 ? '' : duplicateWarning(states, claimed)}
    ${others}
    ${more ? html`<p>${first}</p>` : ''}
    <p class="soft">${t('You can send votes for 30 days after they were cast. Imported votes are never sent.')}</p>
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

/** The time range of the votes as text. */
function castText({ since, until }: VoteFilter, before: Date): string {
  const from = since ? t('from {since}', { since }) : t('in the last 30 days');
  return until
    ? `${from} ${t('to {until}', { until })}`
    : `${from}, ${t('before {time}', { time: timeText(before) })}`;
}

function duplicateWarning(states: VoteSelection[], claimed: ResendRange['claimed']): Content {
  if (claimed) {
    return notice('attention', t('A plugin claimed these votes. Their players may be rewarded twice.'));
  }
  if (states.includes('delivered')) {
    return notice('attention', t('These votes were delivered. Each will arrive twice.'));
  }
  if (states.includes('sent-not-confirmed')) {
    return notice(
      'attention',
      t(
        'Nothing confirmed these votes, as with most Votifier v1 listeners. Votes that have arrived will arrive twice. Send only votes that did not reach your game.',
      ),
    );
  }
  if (states.includes('unconfirmed')) {
    return notice('attention', t('These votes may have arrived. Some may arrive twice.'));
  }
  return html`<p>${t('These votes surely did not arrive.')}</p>`;
}
