import type { FastifyInstance } from 'fastify';
import type { WithId } from 'mongodb';
import { hostAndPort } from '../../platform/host-and-port.ts';
import { listServersByTime, SERVER_LISTS, type ServerList } from '../../servers/search-servers.ts';
import type { Server } from '../../servers/server.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { findServers } from '../../workflows/find-servers.ts';
import { OPERATOR } from '../route-options.ts';
import { queryOf, queryText } from '../shared/form.ts';
import { count, timeAgo } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { cursorPager, dataTable, tabs, textField } from '../shared/parts.ts';
import { type AdminParts, adminPage, adminPath, serverLink, stateBadges } from './admin-frame.ts';

const ROWS = 50;

const LISTS = Object.keys(SERVER_LISTS) as ServerList[];
const TEXTS: Record<ServerList, { title: string; empty: string }> = {
  all: { title: 'Newest', empty: 'No servers are listed yet.' },
  hidden: { title: 'Hidden', empty: 'No hidden servers.' },
  removed: { title: 'Removed', empty: 'No removed servers.' },
};

const FIRST_ROWS = `Showing the first ${ROWS} results. Enter more of the name to narrow them down.`;

export function serversPage(app: FastifyInstance, { deps }: AdminParts): void {
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
      : TEXTS[list].empty;
    const page = adminPage({
      base,
      part: '/servers',
      title: 'Servers',
      body: html`${searchForm(base, q)} ${q ? '' : listTabs(base, list)}
          <section class="card">${serverTable(base, found.rows, deps.clock.now(), empty)}</section>
          ${found.rows.length === ROWS && q ? html`<p class="soft">${FIRST_ROWS}</p>` : ''}
          ${cursorPager(adminPath(base, '/servers'), { from, next: found.next }, kept)}`,
    });
    return sendPage(request, reply, page);
  });
}

function searchForm(base: string, q: string | undefined): Html {
  return html`<form method="get" action="${adminPath(base, '/servers')}" class="filters" role="search">
    ${textField({
      name: 'q',
      label: 'Find a server',
      type: 'search',
      value: q ?? '',
      maxlength: 254,
      placeholder: 'Name, address, slug, id or owner’s e-mail',
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
    LISTS.map((one) => ({ href: href(one), text: TEXTS[one].title })),
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
        cell: (server) => serverLink(base, server),
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
