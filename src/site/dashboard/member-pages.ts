import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ObjectId, type WithId } from 'mongodb';
import { z } from 'zod';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { AN_OPERATOR } from '../../servers/actor-names.ts';
import type { ApiToken } from '../../servers/api-token.ts';
import { isValid, listTokens, makerOf } from '../../servers/api-tokens.ts';
import { changeRole, leaveServer, removeMember } from '../../servers/end-membership.ts';
import {
  type invitationsOf,
  inviteMember,
  openInvitations,
  withdrawInvitation,
} from '../../servers/members.ts';
import { MEMBER_ROLES, type MemberRole, type Server } from '../../servers/server.ts';
import { joinServer } from '../../workflows/join-server.ts';
import { isByOperator, serverOf, userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { OWNER, SIGNED_IN, SOLE_OWNER } from '../page-route.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { errorsOf, readForm, type Typed, UNTOUCHED, withError } from '../shared/form.ts';
import { formRoute, type Refused, refused } from '../shared/form-route.ts';
import { relative, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { sendPage } from '../shared/layout.ts';
import {
  button,
  card,
  checkbox,
  confirmed,
  dataTable,
  notice,
  optionsOf,
  select,
  textField,
} from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { idOf } from './draft-pages.ts';
import { serverFrame } from './server-frame.ts';

export const ROLE_TEXTS: Record<MemberRole, Text> = {
  full: defineMessage('full'),
  read: defineMessage('read only'),
};
const ROLE_OPTIONS: [MemberRole, Text][] = [
  ['full', defineMessage('Full: changes everything but members, owner and removal')],
  ['read', defineMessage('Read only: sees the dashboard and changes nothing')],
];

const inviteForm = z.object({ email: z.string(), role: z.string() });
const roleForm = z.object({ role: z.enum(MEMBER_ROLES) });
const withdrawForm = z.object({ email: z.string() });
const removeForm = z.object({ keep: z.literal('yes').optional() });

const MESSAGES = {
  invited: defineMessage('Invitation saved.'),
  withdrawn: defineMessage('Invitation withdrawn.'),
  changed: defineMessage('Role changed.'),
  removed: defineMessage(
    'Member removed. Check whether they know other tokens under “API access”, and the Discord webhook under “Settings”.',
  ),
};

/** `/dashboard/servers/<id>/members`: who manages a server with its owner, and invitations. */
export function memberPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;
  const pathOf = (server: WithId<Server>, rest = '') => serverPath(base, server, `/members${rest}`);

  const show = async (request: FastifyRequest, reply: FastifyReply, typed = UNTOUCHED, status = 200) => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const isOwner = mayManage(request, server);
    const body = html`${card({ title: t('Members'), body: await memberTable(server, isOwner) })}
      ${isOwner ? card({ title: t('Invite'), body: invitePart(server, typed, now) }) : ''}`;
    return sendPage(
      request,
      reply,
      {
        title: `${t('Members')} · ${server.name}`,
        messages: MESSAGES,
        body: serverFrame({ site: app.site, server, now, part: '/members', body }),
      },
      status,
    );
  };

  const mayManage = (request: FastifyRequest, server: Server) =>
    (server.ownerId?.equals(userOf(request)._id) ?? false) || isByOperator(deps, request);

  const memberTable = async (server: WithId<Server>, isOwner: boolean): Promise<Html> => {
    const { ownerId, members = [] } = server;
    const ids = [...(ownerId ? [ownerId] : []), ...(members ?? []).map(({ userId }) => userId)];
    const users = await deps.users.find({ _id: { $in: ids } }, { projection: { email: 1 } }).toArray();
    const now = deps.clock.now();
    const tokens = isOwner ? await listTokens(deps, server._id) : [];
    const tokensOf = (id: ObjectId) => tokens.filter((one) => isValid(one, now) && one.issuedBy?.equals(id));
    const emailOf = (id: ObjectId) =>
      users.find(({ _id }) => _id.equals(id))?.email ?? t('a deleted account');
    type Row = { userId: ObjectId; role: MemberRole | 'owner'; at: Date | null };
    const rows: Row[] = [
      ...(ownerId ? [{ userId: ownerId, role: 'owner' as const, at: null }] : []),
      ...(members ?? []),
    ];
    return dataTable<Row>({
      caption: t('Members'),
      rows,
      columns: [
        { title: t('User'), heads: true, kind: 'address', cell: ({ userId }) => emailOf(userId) },
        { title: t('Role'), cell: ({ role }) => (role === 'owner' ? t('owner') : t(ROLE_TEXTS[role])) },
        { title: t('Since'), cell: ({ at }) => (at ? timeAgo(at, now) : '') },
        ...(isOwner
          ? [
              {
                title: t('Actions'),
                cell: (row: Row) => memberActions(server, row, emailOf(row.userId), tokensOf(row.userId)),
              },
            ]
          : []),
      ],
      empty: t('This server has no owner and no members.'),
    });
  };

  const memberActions = (
    server: WithId<Server>,
    { userId, role }: { userId: ObjectId; role: string },
    email: string,
    tokens: ApiToken[],
  ): Content => {
    if (role === 'owner') return '';
    const path = pathOf(server, `/${userId.toHexString()}`);
    const other = role === 'full' ? 'read' : 'full';
    const change = button({
      to: `${path}/role`,
      text: other === 'full' ? t('Give full access') : t('Make read only'),
      hidden: { role: other },
      of: email,
    });
    return html`<div class="actions">
      ${tokens.length === 0 || other === 'full' ? change : confirmed({ text: t('Make read only…'), of: email, consequence: losesTokens(tokens), form: change })}
      ${confirmed({ text: t('Remove'), of: email, consequence: html`${t('The member no longer sees this server.')} ${losesTokens(tokens)}`, form: removal(path, email, tokens) })}
    </div>`;
  };

  /** Names the tokens that end with the access of the member who made them. */
  const losesTokens = (tokens: ApiToken[]): Content =>
    tokens.length === 0
      ? t('The member has made no valid token.')
      : html`${t('These tokens, which the member made, stop working within 5 seconds:')}
        ${tokens.map(({ name }, index) => html`${index > 0 ? ', ' : ''}<bdi>${name}</bdi>`)}.`;

  const removal = (path: string, email: string, tokens: ApiToken[]): Html =>
    html`<form method="post" action="${path}/remove" class="stack">
      ${tokens.length === 0 ? '' : checkbox({ name: 'keep', id: `keep-${path.split('/').at(-1)}`, label: t('Keep these tokens: they become yours'), hint: t('The member may still know them.') })}
      <button class="danger" type="submit">${t('Remove member')}<span class="for-readers"> ${email}</span></button>
    </form>`;

  const invitePart = (server: WithId<Server>, { values, errors }: Typed, now: Date): Html => {
    const open = openInvitations(server, now);
    const mail = deps.config.SMTP_URL
      ? t(
          'We mail the address. Whoever signs in with it, confirmed, finds the invitation under “Your servers”.',
        )
      : t(
          'This listing sends no mail: tell the person to sign in. An operator must have confirmed the address.',
        );
    return html`${errors.form ? notice('bad', errors.form) : ''}
      ${dataTable({
        caption: t('Open invitations'),
        rows: open,
        columns: [
          { title: t('E-mail address'), heads: true, kind: 'address', cell: ({ email }) => email },
          { title: t('Role'), cell: ({ role }) => t(ROLE_TEXTS[role]) },
          { title: t('Invited'), cell: ({ at }) => timeAgo(at, now) },
          {
            title: t('Actions'),
            cell: ({ email }) =>
              button({ to: pathOf(server, '/withdraw'), text: t('Withdraw'), hidden: { email }, of: email }),
          },
        ],
        empty: t('No open invitations.'),
      })}
      <form method="post" action="${pathOf(server)}" class="stack">
        <div class="row">
          ${textField({ name: 'email', label: t('E-mail address'), type: 'email', required: true, maxlength: 254, value: values.email ?? '', error: errors.email, hint: mail })}
          ${select({ name: 'role', label: t('Role'), value: values.role ?? 'read', options: optionsOf(ROLE_OPTIONS), error: errors.role })}
        </div>
        <button type="submit">${t('Invite')}</button>
      </form>`;
  };

  app.get('/servers/:serverId/members', OWNER, (request, reply) => show(request, reply));

  app.post('/servers/:serverId/members', SOLE_OWNER, async (request, reply) => {
    const server = serverOf(request);
    const { data, typed } = readForm(inviteForm, request);
    if (!data) return show(request, reply, typed, 400);
    try {
      const { _id, email } = userOf(request);
      const retryAt = await inviteMember(deps, server, data, { _id, email, address: request.ip });
      if (retryAt) {
        const sentence = t(
          'Too many invitations by you, to this address or from your network. Try again {time}.',
          {
            time: relative(retryAt, deps.clock.now()),
          },
        );
        return await show(request, reply, withError(typed, sentence), 429);
      }
    } catch (error) {
      return show(request, reply, errorsOf(error, typed.values), 400);
    }
    return reply.redirect(`${pathOf(server)}?done=invited`, 303);
  });

  formRoute(app, {
    path: '/servers/:serverId/members/withdraw',
    access: SOLE_OWNER,
    schema: withdrawForm,
    run: async ({ request, data }) => {
      const server = serverOf(request);
      await withdrawInvitation(deps, server._id, data.email, userOf(request).email);
      return `${pathOf(server)}?done=withdrawn`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/members/:userId/role',
    access: SOLE_OWNER,
    schema: roleForm,
    run: async ({ request, data }) => {
      const server = serverOf(request);
      const userId = idParam(request, 'userId');
      const isChanged = await changeRole(deps, server._id, userId, data.role, userOf(request).email);
      return isChanged ? `${pathOf(server)}?done=changed` : noMember();
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/members/:userId/remove',
    access: SOLE_OWNER,
    schema: removeForm,
    run: async ({ request, data }) => {
      const server = serverOf(request);
      const { _id: by, email } = userOf(request);
      const keepFor = data.keep ? makerOf(server, by) : undefined;
      const isRemoved = await removeMember(deps, server._id, idParam(request, 'userId'), email, keepFor);
      return isRemoved ? `${pathOf(server)}?done=removed` : noMember();
    },
  });

  for (const answer of ['accept', 'decline'] as const) {
    app.post(`/invitations/:serverId/${answer}`, SIGNED_IN, async (request, reply) => {
      const user = userOf(request);
      const serverId = idOf((request.params as { serverId?: string }).serverId) ?? new ObjectId();
      if (answer === 'decline') {
        // An unconfirmed address may belong to somebody else.
        if (user.emailVerified) await withdrawInvitation(deps, serverId, user.email, user.email);
        return reply.redirect(`${base}/dashboard?done=declined`, 303);
      }
      const server = await joinServer(deps, serverId, user);
      if (!server)
        throw new PageError(
          404,
          t('You have no open invitation to this server. It may be withdrawn or expired.'),
        );
      return reply.redirect(serverPath(base, server), 303);
    });
  }

  app.post('/memberships/:serverId/leave', SIGNED_IN, async (request, reply) => {
    const user = userOf(request);
    const serverId = idOf((request.params as { serverId?: string }).serverId) ?? new ObjectId();
    await leaveServer(deps, serverId, user);
    return reply.redirect(`${base}/dashboard?done=left`, 303);
  });
}

function noMember(): Refused {
  return refused(404, t('This server has no member with this id.'));
}

/** The invitations of a user on the page of their servers. */
export function invitationCard(base: string, open: Awaited<ReturnType<typeof invitationsOf>>): Content {
  return open.map(({ server, role, by }) => {
    const path = `${base}/dashboard/invitations/${server._id.toHexString()}`;
    return card({
      title: t('Invitation'),
      body: html`<p>${t('{by} invites you to manage <bdi>{server}</bdi> ({role}).', { by: by === AN_OPERATOR ? t(AN_OPERATOR) : by, server: server.name, role: t(ROLE_TEXTS[role]) })}</p>
        <div class="actions">
          ${button({ to: `${path}/accept`, text: t('Accept'), kind: 'primary', of: server.name })}
          ${button({ to: `${path}/decline`, text: t('Decline'), of: server.name })}
        </div>`,
    });
  });
}
