import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { defineMessage, t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { makerOf } from '../../servers/api-tokens.ts';
import {
  changeRole,
  INVITATIONS,
  inviteMember,
  leaveServer,
  openInvitations,
  removeMember,
  withdrawInvitation,
} from '../../servers/members.ts';
import { MEMBER_ROLES } from '../../servers/server.ts';
import { joinServer } from '../../workflows/join-server.ts';
import { isByOperator, serverOf, userOf } from '../guard-routes.ts';
import { OWNER, SIGNED_IN, SOLE_OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, type RefusedForm, refused } from '../shared/form-route.ts';
import { html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { inviteCard, membersCard, readMembers } from './member-cards.ts';
import { serverFrame } from './server-frame.ts';

const MESSAGES = {
  invited: defineMessage('Invitation saved.'),
  withdrawn: defineMessage('Invitation withdrawn.'),
  changed: defineMessage('Role changed.'),
  removed: defineMessage(
    'Member removed. Check whether they know other tokens under “API access”, and the webhooks and secrets under “Events”.',
  ),
};

/** `/dashboard/servers/<id>/members`: the users who manage a server, and invitations. */
export function memberPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;

  const page = async (request: FastifyRequest, typed = UNTOUCHED): Promise<Page> => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const path = serverPath(base, server, '/members');
    const mayChange = (server.ownerId?.equals(userOf(request)._id) ?? false) || isByOperator(deps, request);
    const isMailed = Boolean(deps.config.SMTP_URL);
    const body = html`${membersCard(path, await readMembers(deps, server), mayChange, now)}
      ${mayChange ? inviteCard(path, openInvitations(server, now), isMailed, typed, now) : ''}`;
    return {
      title: `${t('Members')} · ${server.name}`,
      messages: MESSAGES,
      ...serverFrame({ site: app.site, deps, server, now, part: '/members', body }),
    };
  };

  app.get('/servers/:serverId/members', OWNER, async (request, reply) =>
    sendPage(request, reply, await page(request)),
  );
  invitationRoutes(app, deps, page);
  roleRoutes(app, deps);
}

type ShowMembers = (request: FastifyRequest, typed: Typed) => Promise<Page>;

function invitationRoutes(app: FastifyInstance, deps: AppDeps, page: ShowMembers): void {
  const { base } = app.site;

  formRoute(app, {
    path: '/servers/:serverId/members',
    access: SOLE_OWNER,
    schema: z.object({ email: z.string(), role: z.string() }),
    show: page,
    run: async ({ request, server, user, path, data }) => {
      const { _id, email } = user;
      const retryAt = await inviteMember(deps, server, data, { _id, email, address: request.ip });
      return retryAt ? refused(429, t(INVITATIONS.sentence), retryAt) : `${path('/members')}?done=invited`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/members/withdraw',
    access: SOLE_OWNER,
    schema: z.object({ email: z.string() }),
    run: async ({ server, by, path, data }) => {
      await withdrawInvitation(deps, server._id, data.email, by);
      return `${path('/members')}?done=withdrawn`;
    },
  });

  formRoute(app, {
    path: '/invitations/:serverId/accept',
    access: SIGNED_IN,
    run: async ({ request, user }) => {
      const server = await joinServer(deps, idParam(request, 'serverId'), user);
      return server
        ? serverPath(base, server)
        : refused(404, t('You have no open invitation to this server. It may be withdrawn or expired.'));
    },
  });

  formRoute(app, {
    path: '/invitations/:serverId/decline',
    access: SIGNED_IN,
    run: async ({ request, user: { email, emailVerified } }) => {
      // If the user's address is not confirmed: it may belong to somebody else, whose invitation must stay.
      if (emailVerified) await withdrawInvitation(deps, idParam(request, 'serverId'), email, email);
      return `${base}/dashboard?done=declined`;
    },
  });
}

function roleRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { base } = app.site;

  formRoute(app, {
    path: '/servers/:serverId/members/:userId/role',
    access: SOLE_OWNER,
    schema: z.object({ role: z.enum(MEMBER_ROLES) }),
    run: async ({ request, server, by, path, data }) => {
      const userId = idParam(request, 'userId');
      const isChanged = await changeRole(deps, server._id, userId, data.role, by);
      return isChanged ? `${path('/members')}?done=changed` : noMember();
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/members/:userId/remove',
    access: SOLE_OWNER,
    schema: z.object({ keep: z.literal('yes').optional() }),
    run: async ({ request, server, user, by, path, data }) => {
      const keepFor = data.keep ? makerOf(server, user._id) : undefined;
      const isRemoved = await removeMember(deps, server._id, idParam(request, 'userId'), by, keepFor);
      return isRemoved ? `${path('/members')}?done=removed` : noMember();
    },
  });

  formRoute(app, {
    path: '/memberships/:serverId/leave',
    access: SIGNED_IN,
    run: async ({ request, user }) => {
      await leaveServer(deps, idParam(request, 'serverId'), user);
      return `${base}/dashboard?done=left`;
    },
  });
}

function noMember(): RefusedForm {
  return refused(404, t('This server has no member with this id.'));
}
