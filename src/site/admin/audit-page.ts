import type { FastifyInstance } from 'fastify';
import { ACTIONS_BY_TITLE, auditSentence } from '../../platform/audit/audit-actions.ts';
import { type AuditEntry, readAudit } from '../../platform/audit/audit-log.ts';
import { findServer } from '../../servers/listed-servers.ts';
import { OPERATOR } from '../route-options.ts';
import { queryOf } from '../shared/form.ts';
import { time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { cursorPager, dataTable, select, textField } from '../shared/parts.ts';
import {
  type AdminParts,
  adminPage,
  adminPath,
  type NamedServer,
  serverLink,
  serverNames,
} from './admin-frame.ts';

const ROWS = 50;

export function auditPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  app.get('/audit', OPERATOR, async (request, reply) => {
    const query = queryOf(request);
    const { by, action, from } = query;
    const server = query.server ? await findServer(deps, query.server, { removed: true }) : null;
    const isUnknown = query.server !== undefined && !server;
    const filter = { by: by?.toLowerCase(), action, ...(server ? { serverId: server._id } : {}) };
    const { rows, next } = isUnknown
      ? { rows: [], next: null }
      : await readAudit(deps, filter, { from, limit: ROWS });
    const ids = rows.flatMap(({ serverId }) => serverId ?? []);
    const servers = await serverNames(deps, ids);
    const empty = next ? 'No matching entries so far. Continue with older ones.' : 'No matching entries.';
    const page = adminPage({
      base,
      part: '/audit',
      title: 'Audit log',
      body: html`${filterForm(base, query, isUnknown ? 'No server has this id or slug.' : undefined)}
            <section class="card">${entryTable(base, rows, servers, empty)}</section>
            ${cursorPager(adminPath(base, '/audit'), { from, next }, query)}`,
    });
    return sendPage(request, reply, page, isUnknown ? 400 : 200);
  });
}

function filterForm(base: string, query: Record<string, string>, error: string | undefined): Html {
  const options: [string, string][] = [['', 'All actions'], ...ACTIONS_BY_TITLE];
  // An action that the list does not have is added, so that the filter shows it as selected.
  if (query.action && !options.some(([value]) => value === query.action))
    options.push([query.action, query.action]);
  const isFiltered = Object.keys(query).length > 0;
  return html`<form method="get" action="${adminPath(base, '/audit')}" class="filters" role="search">
    ${textField({
      name: 'by',
      label: 'User',
      hint: 'E-mail address, or cli.',
      value: query.by ?? '',
      maxlength: 254,
      spellcheck: false,
    })}
    ${select({ name: 'action', label: 'Action', hint: 'Type of change.', value: query.action, options })}
    ${textField({
      name: 'server',
      label: 'Server',
      hint: 'Id or slug.',
      value: query.server ?? '',
      error,
      spellcheck: false,
    })}
    <button type="submit">Show</button>
    ${isFiltered ? html`<a class="button quiet" href="${adminPath(base, '/audit')}">Clear filters</a>` : ''}
  </form>`;
}

function entryTable(
  base: string,
  rows: AuditEntry[],
  servers: Map<string, NamedServer>,
  empty: string,
): Html {
  const serverCell = ({ serverId }: AuditEntry): Content => {
    if (!serverId) return '–';
    const server = servers.get(serverId.toHexString());
    return server ? serverLink(base, server) : html`<span class="mono">${serverId.toHexString()}</span>`;
  };
  return dataTable<AuditEntry>({
    caption: 'Entries of the audit log, newest first',
    rows,
    empty,
    columns: [
      { title: 'Time', cell: ({ at }) => time(at) },
      { title: 'User', kind: 'address', cell: ({ by }) => html`<bdi>${by}</bdi>` },
      {
        title: 'Action',
        heads: true,
        cell: (entry) => html`<bdi>${auditSentence(entry)}</bdi>${details(entry)}`,
      },
      { title: 'Server', cell: serverCell },
    ],
  });
}

function details({ action, details: all }: AuditEntry): Content {
  if (Object.keys(all).length === 0) return '';
  return html`<details class="entry">
    <summary class="small soft">Details<span class="for-readers"> of ${action}</span></summary>
    <pre class="block"><code>${JSON.stringify({ action, ...all }, null, 2)}</code></pre>
  </details>`;
}
