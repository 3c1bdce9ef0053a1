import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { z } from 'zod';
import { hostAndPort } from '../../platform/host-and-port.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { allowVotes } from '../../ranking/evidence/allow-votes.ts';
import { editServer } from '../../servers/listed-servers.ts';
import { removeProfilePart } from '../../servers/moderate-profile.ts';
import { hideServer, unhideServer } from '../../servers/moderate-server.ts';
import { listServersByTime, SERVER_LISTS, type ServerList } from '../../servers/search-servers.ts';
import type { Server } from '../../servers/server.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { findServers } from '../../workflows/find-servers.ts';
import { removeServer } from '../../workflows/remove-server.ts';
import { nextOwner, TransferError, transferServer } from '../../workflows/transfer-server.ts';
import { PageError } from '../error-pages.ts';
import { OPERATOR } from '../route-options.ts';
import { fieldText, queryOf, queryText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { type Form, formRoute, type RefusedForm, refused } from '../shared/form-route.ts';
import { count, timeAgo } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { sendPage } from '../shared/layout.ts';
import { cursorPager, dataTable, tabs, textField } from '../shared/parts.ts';
import { adminFrame, adminPath, adminServerPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { stateBadges } from './server-badges.ts';
import { serverPage } from './server-details.ts';

/** Servers per page. */
const ROWS = 50;

const LISTS = Object.keys(SERVER_LISTS) as ServerList[];
const TITLES: Record<ServerList, string> = { all: 'Newest', hidden: 'Hidden', removed: 'Removed' };
const EMPTY: Record<ServerList, string> = {
  all: 'No servers are listed yet.',
  hidden: 'No hidden servers.',
  removed: 'No removed servers.',
};

const FIRST_ROWS = `Showing the first ${ROWS} results. Enter more of the name to narrow them down.`;

/** `/operator/servers`: the list and search of servers, and the page of each server. */
export function adminServerPages(app: FastifyInstance, { deps }: AdminParts): void {
  listPage(app, deps);
  oneServerPage(app, deps);
}

function listPage(app: FastifyInstance, deps: AppDeps): void {
  const { base } = app.site;
  app.get('/servers', OPERATOR, async (request, reply) => {
    const { q, list: wanted, from } = queryOf(request);
    const list = LISTS.find((one) => one === wanted) ?? 'all';
    const found = q
      ? { rows: await findServers(deps, q, { limit: ROWS }), next: null }
      : await listServersByTime(deps, list, { from, limit: ROWS });
    const kept = { list: list === 'all' ? undefined : list };
    const empty = q
      ? `No servers match “${q}”. Search by a name or a part of it, by the beginning of an address or slug, by id, or by the owner’s e-mail address.`
      : EMPTY[list];
    return sendPage(request, reply, {
      title: 'Servers',
      ...adminFrame({
        base,
        part: '/servers',
        body: html`${searchForm(base, q)} ${q ? '' : listTabs(base, list)}
          <section class="card">${serverTable(base, found.rows, deps.clock.now(), empty)}</section>
          ${found.rows.length === ROWS && q ? html`<p class="soft">${FIRST_ROWS}</p>` : ''}
          ${cursorPager(adminPath(base, '/servers'), { from, next: found.next }, kept)}`,
      }),
    });
  });
}

/** `/operator/servers/:serverId`: the page of a server with its actions. */
function oneServerPage(app: FastifyInstance, deps: AppDeps): void {
  const { base } = app.site;
  const serverOf = async (request: FastifyRequest): Promise<WithId<Server>> => {
    const server = await deps.servers.findOne({ _id: idParam(request, 'serverId') });
    if (!server) throw new PageError(404, 'This server does not exist.');
    return server;
  };
  const show = async (request: FastifyRequest, typed: Typed) =>
    serverPage(deps, base, await serverOf(request), typed);

  app.get('/servers/:serverId', OPERATOR, async (request, reply) =>
    sendPage(request, reply, await show(request, UNTOUCHED)),
  );

  /** Registers the form of an action on a server. `done` is the code of the message after the action. */
  const action = <S extends z.ZodObject>(
    name: string,
    { done, act, ...form }: Pick<Form<S>, 'fields' | 'refusalOf'> & Action<S>,
  ) =>
    formRoute<S, 'operator'>(app, {
      ...form,
      path: `/servers/:serverId/${name}`,
      access: OPERATOR,
      show,
      run: async ({ request, by, data }) => {
        const server = await serverOf(request);
        const changed = await act(server, data, by);
        if (!changed) return refused(409, 'This server was removed.');
        if (typeof changed === 'object' && 'errors' in changed) return changed;
        return `${adminServerPath(base, server)}?done=${typeof done === 'string' ? done : done(data)}`;
      },
    });

  action('hide', {
    done: 'hidden',
    schema: z.object({ reason: fieldText, internalReason: z.string().optional() }),
    act: ({ _id }, reasons, by) => hideServer(deps, _id, reasons, by),
  });
  action('unhide', { done: 'shown', act: ({ _id }, _data, by) => unhideServer(deps, _id, by) });
  action('profile/remove', {
    done: 'profile-part',
    schema: z.object({
      part: fieldText,
      profileReason: fieldText,
      profileInternalReason: z.string().optional(),
    }),
    fields: { reason: 'profileReason', internalReason: 'profileInternalReason' },
    act: async ({ _id }, { part, profileReason: reason, profileInternalReason: internalReason }, by) =>
      (await removeProfilePart(deps, _id, { part, reason, internalReason }, by)) ||
      refused(409, 'The profile no longer has this part.'),
  });
  action('allow-votes', {
    done: 'votes-allowed',
    schema: z.object({ votes: fieldText, allowReason: fieldText }),
    fields: { reason: 'allowReason' },
    act: ({ _id }, { votes, allowReason: reason }, by) => allowVotes(deps, _id, { votes, reason }, by),
  });
  action('premium', {
    done: ({ premium }) => `premium-${premium}`,
    schema: z.object({ premium: z.enum(['on', 'off']) }),
    act: ({ _id }, { premium }, by) => editServer(deps, _id, { isPremium: premium === 'on' }, by),
  });
  action('transfer', {
    done: 'transferred',
    schema: z.object({ email: fieldText }),
    refusalOf: (error) => (error instanceof TransferError ? { errors: { email: error.message } } : undefined),
    act: async ({ _id }, { email }, by) => transferServer(deps, _id, await nextOwner(deps, email), by),
  });
  action('remove', {
    done: 'removed',
    schema: z.object({ slug: fieldText }),
    act: async ({ _id, slug }, data, by) =>
      data.slug.trim() === slug
        ? removeServer(deps, _id, by)
        : { errors: { slug: `Type ${slug} to remove the server.` } },
  });
}

/** The result of an action; null or false if the server was removed in the meantime. */
type Changed = WithId<Server> | { server: WithId<Server> } | boolean | null;

type Action<S extends z.ZodObject> = {
  done: string | ((data: z.output<S>) => string);
  schema?: S;
  act: (server: WithId<Server>, data: z.output<S>, by: string) => Promise<Changed | RefusedForm>;
};

function searchForm(base: string, q: string | undefined): Html {
  return html`<form method="get" action="${adminPath(base, '/servers')}" class="filters" role="search">
    ${textField({
      name: 'q',
      label: 'Find a server',
      type: 'search',
      value: q ?? '',
      maxlength: 254,
      hint: 'A part of the name; beginning of address or slug; id; or owner’s e-mail address.',
      spellcheck: false,
    })}
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
        cell: ({ address, port }) => html`<span class="mono">${hostAndPort(address, port)}</span>`,
      },
      { title: 'State', cell: (server) => html`<span class="actions">${stateBadges(server, now)}</span>` },
      {
        title: 'Rank',
        kind: 'number',
        cell: (server) => (server.removedAt || server.hiddenAt ? '–' : count(server.rankPosition)),
      },
      {
        title: `Votes in ${RANKING_DAYS} days`,
        kind: 'number',
        cell: ({ ranked }) => (ranked ? count(ranked.votesCount) : '–'),
      },
      { title: 'Listed', cell: ({ listedAt }) => timeAgo(listedAt, now) },
    ],
  });
}
