import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { isResendable } from '../../delivery/resend-votes.ts';
import { statusText } from '../../delivery/timeline/status-text.ts';
import { briefStatus } from '../../delivery/timeline/vote-timeline.ts';
import { defineMessage, t } from '../../language/t.ts';
import { after, DAY } from '../../platform/clock.ts';
import { arrivalOf } from '../../votes/arrival.ts';
import {
  formatVotesCursor,
  pageOfVotes,
  type VotesCursor,
  type VotesPage,
  type VotesWanted,
} from '../../votes/read-votes.ts';
import { isConfirmed, VOTE_SELECTIONS } from '../../votes/sent-not-confirmed.ts';
import { STATE_NAMES } from '../../votes/state-names.ts';
import { usernameSchema } from '../../votes/username.ts';
import type { Vote } from '../../votes/vote.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { pageHead } from '../shared/deck.ts';
import { duration, pageTimes, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { listenerAnnouncement, listenerLine, waitingText } from '../shared/listener-state-parts.ts';
import { type ListenerStatus, listenerStatusReader } from '../shared/listener-status.ts';
import { isUnchanged, livePart, markOf, pageState, seenMark, sendUnchanged } from '../shared/live.ts';
import { cursorPager, dataTable, select, textField } from '../shared/parts.ts';
import { stateInList } from '../shared/vote-state.ts';
import { votesCursor } from '../shared/votes-cursor.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { serverFrame } from './server-frame.ts';

const MESSAGES = {
  resent: defineMessage('Votes queued again.'),
  'nothing-to-resend': defineMessage('Nothing to send. The votes are already queued.'),
};

/** `/dashboard/servers/<id>/votes`: every vote with its state, newest first. */
export function votesPage(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;
  const statusOf = listenerStatusReader(deps);

  app.get('/servers/:serverId/votes', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const { from, ...filter } = voteQuery.parse(request.query);
    const path = serverPath(base, server, '/votes');
    const now = deps.clock.now();
    const [page, state] = await Promise.all([
      pageOfVotes(deps, server._id, wantedBy(filter), from),
      deps.listeners.findOne({ serverId: server._id }, { projection: SHOWN_OF_LISTENER }),
    ]);
    // If these fields of the listener and of the votes are unchanged: a poll gets 204 (live.ts).
    const shownState = pageState(state, page.votes.map(inBrief), page.next);
    const seen = seenMark(request);
    if (seen && isUnchanged(seen, shownState, now)) return sendUnchanged(reply);
    const status = await statusOf(server._id);
    const { listener } = status;
    const open = (listener?.waiting ?? 0) > 0 || page.votes.some(isOpen);
    const shown: Shown = { path, filter, from, page, status, now };
    const body = livePart({
      id: 'votes',
      href: `${path}${filterText(filter, from ? { from: formatVotesCursor(from) } : {})}`,
      announcement: listener ? listenerAnnouncement(listener) : t('No vote listener.'),
      open,
      mark: markOf(shownState, open, now),
      body: [
        listenerNow(serverPath(base, server, '/listener'), status, now),
        // The form is not refreshed, because a refresh would overwrite what the user is typing.
        html`<section class="card vote-rows"><div hx-morph-skip>${voteFilterForm(path, filter)}</div>${table(
          shown,
        )}</section>`,
      ],
    });
    const head = pageHead({ title: t('All votes'), actions: resendLink(shown) });
    return sendPage(request, reply, {
      title: `${t('Votes')} · ${server.name}`,
      live: true,
      messages: MESSAGES,
      ...serverFrame({ site: app.site, deps, server, now, part: '/votes', head, body }),
    });
  });
}

/** One line: how the listener is, and how many votes wait. */
function listenerNow(path: string, status: ListenerStatus, now: Date): Html {
  const { listener } = status;
  const waiting = listener?.waiting ?? 0;
  return html`<section class="card listener-now">${listenerLine(status, now)}
    <p class="small">${waiting > 0 ? html`<b>${t('{votes} waiting', { votes: waitingText(waiting) })}</b>` : ''}
      <a href="${path}">${listener ? t('Open vote listener') : t('Set up the vote listener')}</a></p>
  </section>`;
}

type Shown = {
  path: string;
  filter: VoteFilter;
  from: VotesCursor | undefined;
  page: VotesPage;
  status: ListenerStatus;
  now: Date;
};

const SHOWN_OF_LISTENER = {
  breaker: 1,
  pause: 1,
  limited: 1,
  tested: 1,
  lastDeliveredAt: 1,
  revision: 1,
} as const;

const inBrief = ({ _id, excludedAt, quarantinedAt, delivery }: Vote) => [
  _id,
  delivery.state,
  delivery.attemptCount,
  delivery.nextAt,
  excludedAt,
  quarantinedAt,
];

const isOpen = ({ delivery: { state } }: Vote) => state === 'waiting' || state === 'sending';

/** A link to send the filtered votes again. Empty without a listener, or if the filter selects queued votes. */
function resendLink({ path, filter, status }: Shown): Content {
  const { state } = filter;
  if (!status.listener || (state && !isResendable(state))) return '';
  return html`<a class="button quiet" href="${path}/resend${filterText(filter)}">${t('Send again…')}</a>`;
}

function table({ path, filter, from, page, status, now }: Shown): Html {
  const { votes, next } = page;
  return html`${dataTable({
    caption: t('Votes, newest first'),
    rows: votes,
    columns: [
      {
        title: t('Player'),
        heads: true,
        cell: ({ _id, username, identity }) =>
          html`<a href="${path}/${_id.toString()}"><bdi>${username}</bdi></a>${identity ? provenMark() : ''}`,
      },
      { title: t('Cast'), cell: ({ votedAt }) => timeAgo(votedAt, now) },
      {
        title: t('State'),
        cell: stateInList,
      },
      { title: t('Details'), cell: (vote) => detailsOf(vote, status, now) },
    ],
    empty: emptyText(filter, next !== null),
  })}
  ${cursorPager(path, { from: from && formatVotesCursor(from), next: next && formatVotesCursor(next) }, filter)}`;
}

function provenMark(): Html {
  return html` <span class="small soft" title="${t('proven: Steam confirmed the SteamID')}">${t('proven')}</span>`;
}

/** Why a vote waits, or how its delivery ended. If the listener confirmed the vote: how long that took. */
function detailsOf(vote: Vote, { listener, queuePaused }: ListenerStatus, now: Date): string {
  const { delivery, votedAt } = vote;
  const { attempts, attemptCount, deliveredAt } = delivery;
  if (!isConfirmed(delivery) || !deliveredAt)
    return statusText(briefStatus(vote, listener, now), pageTimes(now), queuePaused, {
      arrival: arrivalOf(vote.delivery),
    });
  // After a manual resend: do not show the time since the cast, because it would say nothing about the delivery.
  if (attempts.at(-1)?.wokenBy === 'resend') return t('confirmed after a manual resend');
  const took = t('confirmed after {duration}', {
    duration: duration(deliveredAt.getTime() - votedAt.getTime()),
  });
  if (attemptCount < 2) return took;
  return `${took} ${t('on the {number, selectordinal, one {#st} two {#nd} few {#rd} other {#th}} attempt', { number: attemptCount })}`;
}

function emptyText(filter: VoteFilter, more: boolean): string {
  if (more) return t('No matching votes on this page. Continue with older ones.');
  if (isFiltered(filter)) return t('No matching votes.');
  return t(
    'No votes yet. Votes come from the vote form on the server’s page, and from plugins and websites that use an API token.',
  );
}

/** A day such as `2026-11-21`. */
const utcDay = z.iso
  .date()
  .refine((text) => text >= '2000' && text < '2200')
  .optional()
  .catch(undefined);

/** The query of the votes page. Invalid values count as absent. */
export const voteQuery = z.object({
  state: z.enum(VOTE_SELECTIONS).optional().catch(undefined),
  player: usernameSchema.optional().catch(undefined),
  since: utcDay,
  until: utcDay,
  from: votesCursor,
});

export type VoteFilter = Omit<z.output<typeof voteQuery>, 'from'>;

/** The filter as a selection of votes. The votes of both days, `since` and `until`, are included. */
export function wantedBy({ state, player, since, until }: VoteFilter): VotesWanted {
  return {
    state,
    player,
    since: since === undefined ? undefined : new Date(since),
    until: until === undefined ? undefined : after(new Date(until), DAY),
  };
}

export function isFiltered({ state, player, since, until }: VoteFilter): boolean {
  return [state, player, since, until].some((value) => value !== undefined);
}

export function filterText(
  { state, player, since, until }: VoteFilter,
  more: Record<string, string> = {},
): string {
  const given = Object.entries({ state, player, since, until, ...more }).filter(
    ([, value]) => value !== undefined,
  );
  const text = new URLSearchParams(given as [string, string][]).toString();
  return text ? `?${text}` : '';
}

export function voteFilterForm(path: string, filter: VoteFilter): Html {
  const { state, player = '', since = '', until = '' } = filter;
  return html`<form method="get" action="${path}" class="filters" role="search" aria-label="${t('Votes')}">
    ${select({
      name: 'state',
      label: t('State'),
      value: state,
      options: [
        ['', t('all')],
        ...VOTE_SELECTIONS.map((one): [string, string] => [one, t(STATE_NAMES[one])]),
      ],
    })}
    ${textField({
      name: 'player',
      label: t('Player'),
      value: player,
      maxlength: 50,
      spellcheck: false,
    })}
    ${textField({ name: 'since', label: t('From (UTC day)'), type: 'date', value: since })}
    ${textField({ name: 'until', label: t('To'), type: 'date', value: until })}
    <div class="actions">
      <button type="submit" class="quiet">${t('Show')}</button>
      ${isFiltered(filter) ? html`<a href="${path}">${t('Show all')}</a>` : ''}
    </div>
  </form>`;
}
