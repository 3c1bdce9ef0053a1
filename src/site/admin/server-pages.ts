import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ObjectId, type WithId } from 'mongodb';
import { z } from 'zod';
import { InvalidDocumentError } from '../../platform/document.ts';
import { allowVotes } from '../../ranking/evidence/allow-votes.ts';
import { editServer } from '../../servers/listed-servers.ts';
import { removeProfilePart } from '../../servers/moderate-profile.ts';
import { hideServer, unhideServer } from '../../servers/moderate-server.ts';
import { listServersByTime, SERVER_LISTS, type ServerList } from '../../servers/search-servers.ts';
import type { Server } from '../../servers/server.ts';
import { isId } from '../../servers/slug.ts';
import { findServers } from '../../workflows/find-servers.ts';
import { removeServer } from '../../workflows/remove-server.ts';
import { nextOwner, TransferError, transferServer } from '../../workflows/transfer-server.ts';
import { userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { OPERATOR } from '../page-route.ts';
import { queryOf, queryText, readForm, type Typed, typedValues, UNTOUCHED } from '../shared/form.ts';
import { count, timeAgo } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { dataTable, pager, tabs, textField } from '../shared/parts.ts';
import { adminFrame, adminPath, adminServerPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { stateBadges } from './server-badges.ts';
import { serverPage } from './server-view.ts';

/** Servers per page. */
const ROWS = 50;

const LISTS = Object.keys(SERVER_LISTS) as ServerList[];
const TITLES: Record<ServerList, string> = { all: 'Newest', hidden: 'Hidden', removed: 'Removed' };
const EMPTY: Record<ServerList, string> = {
  all: 'No servers are listed yet.',
  hidden: 'No hidden servers.',
  removed: 'No removed servers.',
};

/** `/operator/servers`: the list and search of servers, and the actions on one. */
export function serverPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const show = (request: FastifyRequest, reply: FastifyReply, typed = UNTOUCHED, status = 200) =>
    showServer(deps, request, reply, typed, status);

  app.get('/servers', OPERATOR, async (request, reply) => {
    const { q, list: wanted, from } = queryOf(request);
    const list = LISTS.find((one) => one === wanted) ?? 'all';
    const found = q
      ? { rows: await findServers(deps, q, { limit: ROWS }), next: null }
      : await listServersByTime(deps, list, { from, limit: ROWS });
    const path = (values: Record<string, string | undefined>) =>
      adminPath(base, `/servers${queryText({ list: list === 'all' ? undefined : list, ...values })}`);
    return sendPage(request, reply, {
      title: 'Servers',
      body: adminFrame({
        base,
        part: '/servers',
        body: html`${searchForm(base, q)} ${q ? '' : listTabs(base, list)}
          <section class="card">${serverTable(base, found.rows, deps.clock.now(), q ? `No servers match “${q}”. Search by a name or a part of it, by the beginning of an address or slug, by id, or by the owner’s e-mail address.` : EMPTY[list])}</section>
          ${found.rows.length === ROWS && q ? html`<p class="soft">Showing the first ${ROWS} results. Enter more of the name to narrow them down.</p>` : ''}
          ${pager({ first: from ? path({}) : undefined, older: found.next ? path({ from: found.next }) : undefined })}`,
      }),
    });
  });

  app.get('/servers/:serverId', OPERATOR, (request, reply) => show(request, reply));

  app.post('/servers/:serverId/hide', OPERATOR, async (request, reply) => {
    const values = typedValues(request);
    return act(request, reply, 'hidden', (serverId, by) =>
      hideServer(deps, serverId, { reason: values.reason ?? '', internalReason: values.internalReason }, by),
    );
  });

  app.post('/servers/:serverId/unhide', OPERATOR, (request, reply) =>
    act(request, reply, 'shown', (serverId, by) => unhideServer(deps, serverId, by)),
  );

  app.post('/servers/:serverId/profile/remove', OPERATOR, async (request, reply) => {
    const { part = '', profileReason = '', profileInternalReason } = typedValues(request);
    return act(request, reply, 'profile-part', async (serverId, by) => {
      const removed = await removeProfilePart(
        deps,
        serverId,
        { part, reason: profileReason, internalReason: profileInternalReason },
        by,
      ).catch((error: unknown) => {
        // The page has another form with a reason.
        if (!(error instanceof InvalidDocumentError)) throw error;
        const { part: partError, reason, internalReason } = error.errors;
        throw new InvalidDocumentError({
          ...(partError ? { part: partError } : {}),
          ...(reason ? { profileReason: reason } : {}),
          ...(internalReason ? { profileInternalReason: internalReason } : {}),
        });
      });
      if (!removed) throw new PageError(409, 'The profile no longer has this part.');
      return removed;
    });
  });

  app.post('/servers/:serverId/allow-votes', OPERATOR, async (request, reply) => {
    const { votes = '', allowReason = '' } = typedValues(request);
    return act(request, reply, 'votes-allowed', (serverId, by) =>
      allowVotes(deps, serverId, { votes, reason: allowReason }, by).catch((error: unknown) => {
        // The page has another form with a reason.
        if (!(error instanceof InvalidDocumentError)) throw error;
        const { reason, ...errors } = error.errors;
        throw new InvalidDocumentError({ ...errors, ...(reason ? { allowReason: reason } : {}) });
      }),
    );
  });

  app.post('/servers/:serverId/premium', OPERATOR, async (request, reply) => {
    const { data } = readForm(z.object({ premium: z.enum(['on', 'off']) }), request);
    if (!data) throw new PageError(400, 'The form is incomplete.');
    const isPremium = data.premium === 'on';
    return act(request, reply, `premium-${data.premium}`, (serverId, by) =>
      editServer(deps, serverId, { isPremium }, by),
    );
  });

  app.post('/servers/:serverId/transfer', OPERATOR, async (request, reply) => {
    const { email = '' } = typedValues(request);
    return act(request, reply, 'transferred', async (serverId, by) =>
      transferServer(deps, serverId, await nextOwner(deps, email), by),
    );
  });

  app.post('/servers/:serverId/remove', OPERATOR, async (request, reply) => {
    const server = await serverOfRequest(deps, request);
    const typed = typedValues(request);
    if (typed.slug?.trim() !== server.slug) {
      const errors = { slug: `Type ${server.slug} to remove the server.` };
      return show(request, reply, { values: typed, errors }, 400);
    }
    return act(request, reply, 'removed', (serverId, by) => removeServer(deps, serverId, by));
  });

  /** Runs the action of a form and shows the server, or the form again with its errors. */
  async function act(
    request: FastifyRequest,
    reply: FastifyReply,
    done: string,
    action: (serverId: ObjectId, by: string) => Promise<unknown>,
  ): Promise<FastifyReply> {
    const server = await serverOfRequest(deps, request);
    try {
      const changed = await action(server._id, userOf(request).email);
      if (!changed) throw new PageError(409, 'This server was removed.');
    } catch (error) {
      const errors = errorsOfAction(error);
      return show(request, reply, { values: typedValues(request), errors }, 400);
    }
    return reply.redirect(`${adminServerPath(base, server)}?done=${done}`, 303);
  }
}

/** @throws `error` itself if the form did not cause it */
function errorsOfAction(error: unknown): Record<string, string> {
  if (error instanceof TransferError) return { email: error.message };
  if (error instanceof InvalidDocumentError) return error.errors;
  throw error;
}

async function serverOfRequest(
  { servers }: AdminParts['deps'],
  request: FastifyRequest,
): Promise<WithId<Server>> {
  const { serverId } = request.params as { serverId: string };
  const server = isId(serverId) ? await servers.findOne({ _id: new ObjectId(serverId) }) : null;
  if (!server) throw new PageError(404, 'This server does not exist.');
  return server;
}

async function showServer(
  deps: AdminParts['deps'],
  request: FastifyRequest,
  reply: FastifyReply,
  typed: Typed,
  status: number,
): Promise<FastifyReply> {
  const { base } = request.server.site;
  const server = await serverOfRequest(deps, request);
  return sendPage(request, reply, await serverPage(deps, base, server, typed), status);
}

function searchForm(base: string, q: string | undefined): Html {
  return html`<form method="get" action="${adminPath(base, '/servers')}" class="filters" role="search">
    ${textField({ name: 'q', label: 'Find a server', type: 'search', value: q ?? '', maxlength: 254, hint: 'A part of the name; beginning of address or slug; id; or owner’s e-mail address.', spellcheck: false })}
    <button type="submit">Find</button>
    ${q ? html`<a class="button quiet" href="${adminPath(base, '/servers')}">All servers</a>` : ''}
  </form>`;
}

function listTabs(base: string, list: ServerList): Html {
  const href = (one: ServerList) =>
    adminPath(base, `/servers${queryText({ list: one === 'all' ? undefined : one })}`);
  return tabs(
    'Lists of servers',
    LISTS.map((one) => ({ href: href(one), text: TITLES[one] })),
    href(list),
  );
}

function serverTable(base: string, rows: WithId<Server>[], now: Date, empty: string): Html {
  return dataTable({
    caption: 'Servers',
    rows,
    empty,
    columns: [
      {
        title: 'Server',
        heads: true,
        cell: (server) => html`<a href="${adminServerPath(base, server)}"><bdi>${server.name}</bdi></a>`,
      },
      {
        title: 'Address',
        kind: 'address',
        cell: ({ address, port }) => html`<span class="mono">${address}:${port}</span>`,
      },
      { title: 'State', cell: (server) => html`<span class="actions">${stateBadges(server, now)}</span>` },
      {
        title: 'Rank',
        kind: 'number',
        cell: (server) => (server.removedAt || server.hiddenAt ? '–' : count(server.rankPosition)),
      },
      {
        title: 'Votes in 30 days',
        kind: 'number',
        cell: ({ ranked }) => (ranked ? count(ranked.votesCount) : '–'),
      },
      { title: 'Listed', cell: ({ listedAt }) => timeAgo(listedAt, now) },
    ],
  });
}
