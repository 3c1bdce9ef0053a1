import type { FastifyInstance } from 'fastify';
import type { ObjectId, WithId } from 'mongodb';
import { defineMessage, t } from '../../language/t.ts';
import type { Listener } from '../../listeners/listener.ts';
import {
  listenerState,
  PROOF_FIELDS,
  STATE_FIELDS,
  type settingsProof,
} from '../../listeners/listener-state.ts';
import { AN_OPERATOR } from '../../servers/actor-names.ts';
import { listDrafts } from '../../servers/drafts.ts';
import { invitationsOf, serversOfUser } from '../../servers/members.ts';
import { roleOf } from '../../servers/ownership.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerDraft } from '../../servers/server-draft.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { userOf } from '../guard-routes.ts';
import { SIGNED_IN } from '../route-options.ts';
import { contactText } from '../shared/contact.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { emptyCard } from '../shared/empty-card.ts';
import { count } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { listenerBadge } from '../shared/listener-state-parts.ts';
import { badge, button, card, confirmed, dataTable } from '../shared/parts.ts';
import { serverAddress, statusBadge } from '../shared/server-status.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { ROLE_TEXTS } from './member-cards.ts';

const MESSAGES = {
  discarded: defineMessage('Draft discarded.'),
  removed: defineMessage('Server removed.'),
  declined: defineMessage('Invitation declined.'),
  left: defineMessage('You are no longer a member of this server.'),
};

/** `/dashboard`: the user's servers and drafts. */
export function serverListPage(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;

  app.get('/', SIGNED_IN, async (request, reply) => {
    const user = userOf(request);
    const [servers, drafts, invitations] = await Promise.all([
      serversOfUser(deps, user._id),
      listDrafts(deps, user._id),
      invitationsOf(deps, user),
    ]);
    const listeners = await deps.listeners
      .find({ serverId: { $in: servers.map(({ _id }) => _id) } })
      .project<ListedListener>({ serverId: 1, ...STATE_FIELDS, ...PROOF_FIELDS })
      .toArray();
    const table = serverTable(base, servers, listeners, user._id, deps.clock.now());
    const unconfirmed = t('Your e-mail address is not confirmed, so invitations to servers are not shown.');
    // Without SMTP, users cannot confirm their addresses.
    const mayConfirm = !user.emailVerified && deps.config.SMTP_URL !== undefined;
    return sendPage(request, reply, {
      title: t('Your servers'),
      messages: MESSAGES,
      body: html`<div class="page-head">
          <h1>${t('Your servers')}</h1>
          <a class="button" href="${base}/dashboard/servers/new">${t('Add a server')}</a>
        </div>
        ${receivedInvitations(base, invitations)}
        ${mayConfirm ? html`<p class="soft">${unconfirmed} ${contactText(app.site)}</p>` : ''}
        ${servers.length === 0 && drafts.length > 0 ? '' : html`<section class="card">${table}</section>`}
        ${draftCard(base, drafts)}`,
    });
  });
}

function membership(base: string, server: WithId<Server>, userId: ObjectId): Content {
  const role = roleOf(server, userId);
  if (!role || role === 'owner') return '';
  const leave = confirmed({
    text: t('Leave…'),
    of: server.name,
    consequence: t(
      'You no longer see this server. Only its owner can invite you again. Tokens that you made for it are revoked, and its owner is told.',
    ),
    form: button({
      to: `${base}/dashboard/memberships/${server._id.toHexString()}/leave`,
      text: t('Leave'),
      kind: 'danger',
      of: server.name,
    }),
  });
  return html`<div class="small">${t('member, {role}', { role: t(ROLE_TEXTS[role]) })} ${leave}</div>`;
}

type ListedListener = Pick<Listener, 'serverId'> &
  Parameters<typeof listenerState>[0] &
  Parameters<typeof settingsProof>[0];

function serverTable(
  base: string,
  servers: WithId<Server>[],
  listeners: ListedListener[],
  userId: ObjectId,
  now: Date,
): Html {
  const listenerCell = (server: WithId<Server>): Content => {
    const listener = listeners.find(({ serverId }) => serverId.equals(server._id));
    const path = serverPath(base, server, '/listener');
    return listener
      ? html`<a href="${path}">${listenerBadge({ ...listener, state: listenerState(listener) })}</a>`
      : html`<a class="small" href="${path}">${t('none')}</a>`;
  };
  return dataTable({
    caption: t('Your servers'),
    rows: servers,
    columns: [
      {
        title: t('Server'),
        heads: true,
        cell: (server) =>
          html`<a href="${serverPath(base, server)}"><bdi>${server.name}</bdi></a>${membership(base, server, userId)}`,
      },
      {
        title: t('Address'),
        kind: 'address',
        cell: (server) => html`<span class="mono">${serverAddress(server)}</span>`,
      },
      { title: t('Status'), cell: (server) => statusBadge(server, now) },
      { title: t('Vote listener'), cell: listenerCell },
      { title: t('Rank'), kind: 'number', cell: ({ rankPosition }) => count(rankPosition) },
      {
        title: t('Votes in {days} days', { days: RANKING_DAYS }),
        kind: 'number',
        cell: ({ ranked }) => count(ranked?.votesCount ?? 0),
      },
    ],
    empty: emptyCard({
      icon: 'plug-zap',
      text: t('You have no servers yet. Add your first one in two minutes.'),
      action: { href: `${base}/dashboard/servers/new`, text: t('Add a server') },
    }),
  });
}

function draftCard(base: string, drafts: WithId<ServerDraft>[]): Content {
  if (drafts.length === 0) return '';
  return card({
    title: t('Not listed yet'),
    body: dataTable({
      caption: t('Servers to verify'),
      rows: drafts,
      columns: [
        {
          title: t('Server'),
          heads: true,
          cell: ({ _id, name }) =>
            html`<a href="${base}/dashboard/drafts/${_id.toHexString()}"><bdi>${name}</bdi></a>`,
        },
        {
          title: t('Address'),
          kind: 'address',
          cell: (draft) => html`<span class="mono">${serverAddress(draft)}</span>`,
        },
        {
          title: t('State'),
          cell: ({ check }) =>
            badge('attention', check?.reached ? t('reached, not verified') : t('not verified')),
        },
      ],
      empty: '',
    }),
  });
}

function receivedInvitations(base: string, invitations: Awaited<ReturnType<typeof invitationsOf>>): Content {
  return invitations.map(({ server, role, by }) => {
    const path = `${base}/dashboard/invitations/${server._id.toHexString()}`;
    const sentence = t('{by} invites you to manage <bdi>{server}</bdi> ({role}).', {
      by: by === AN_OPERATOR ? t(AN_OPERATOR) : by,
      server: server.name,
      role: t(ROLE_TEXTS[role]),
    });
    return card({
      title: t('Invitation'),
      body: html`<p>${sentence}</p>
        <div class="actions">
          ${button({ to: `${path}/accept`, text: t('Accept'), kind: 'primary', of: server.name })}
          ${button({ to: `${path}/decline`, text: t('Decline'), of: server.name })}
        </div>`,
    });
  });
}
