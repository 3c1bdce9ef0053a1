import { z } from 'zod';
import { t } from '../../../language/t.ts';
import type { Complaint } from '../../../moderation/complaint.ts';
import {
  closeComplaints,
  openComplaints,
  reopenComplaints,
  type ServerComplaints,
} from '../../../moderation/complaints.ts';
import { userOf } from '../../guard-routes.ts';
import { OPERATOR } from '../../route-options.ts';
import { COMPLAINT_TEXTS } from '../../shared/complaint-texts.ts';
import { emptyLine } from '../../shared/empty-card.ts';
import { formRoute } from '../../shared/form-route.ts';
import { count, timeAgo } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { badge, button, dataTable, pager } from '../../shared/parts.ts';
import { adminPath, adminServerPath } from '../admin-frame.ts';
import { hideAction, hidingResult } from './hide-server.ts';
import { type Inbox, joinedIds, pickedIds, type TabOf, wholeNumber } from './inbox.ts';
import { inboxItem, keyed, keysHint, manyButton, manyForm, resultNotice } from './inbox-parts.ts';
import { inboxPath } from './inbox-tabs.ts';

/** Reports per page, and the most that one press closes. */
const ROWS = 50;

/** The tab of visitors' reports about servers: those of one server are one item, the newest first. */
export function reportsTab(inbox: Inbox): TabOf {
  const { deps, base } = inbox;
  decisions(inbox);
  return async (_request, query) => {
    const { from } = query;
    const { rows, next } = await openComplaints(deps, { from, limit: ROWS });
    const view = { base, now: deps.clock.now() };
    const many = manyForm({
      to: adminPath(base, '/attention/reports'),
      buttons: manyButton({ value: 'close', text: 'Close selected', key: 'a' }),
    });
    const body = html`${resultOf(base, query)} ${await hidingResult(inbox, 'reports', query)}
      ${
        rows.length === 0
          ? emptyLine('No open reports.')
          : html`${keysHint({ a: 'close', x: 'hide the server' })} ${rows.map((row) => reportItem(view, row))} ${many}`
      }
      ${pager({
        first: from ? inboxPath(base, 'reports') : undefined,
        older: next ? inboxPath(base, 'reports', { from: next }) : undefined,
      })}`;
    return { body, ...(from || next ? {} : { shown: rows.length }) };
  };
}

const decisionForm = z.object({ decision: z.enum(['close', 'reopen']) });

function decisions({ app, deps, base, numbers }: Inbox): void {
  formRoute(app, {
    path: '/attention/reports',
    access: OPERATOR,
    schema: decisionForm,
    run: async ({ request, data: { decision } }) => {
      const ids = pickedIds(request, ROWS);
      if (ids.length === 0) return inboxPath(base, 'reports', { done: 'none' });
      const decide = decision === 'close' ? closeComplaints : reopenComplaints;
      const changed = await decide(deps, ids, userOf(request).email);
      numbers.forget();
      const missed = ids.length - changed;
      return inboxPath(base, 'reports', {
        done: decision,
        ids: joinedIds(ids),
        changed: String(changed),
        missed: missed ? String(missed) : undefined,
      });
    },
  });
}

function resultOf(base: string, { done, ids = '', ...query }: Record<string, string>): Content {
  if (done === 'none') return resultNotice('attention', 'Select the reports first.');
  const changed = wholeNumber(query.changed);
  if (done === 'reopen') return resultNotice('good', `${reports(changed)} open again.`);
  if (done !== 'close') return '';
  const missed = wholeNumber(query.missed);
  const others = missed ? ` ${reports(missed)} had been closed already.` : '';
  const undo = button({
    to: adminPath(base, '/attention/reports'),
    text: 'Undo',
    hidden: { decision: 'reopen', item: ids },
    of: 'closing',
  });
  const text = `${reports(changed)} closed.${others}`;
  return resultNotice(missed ? 'attention' : 'good', text, changed > 0 ? undo : '');
}

const reports = (value: number) => (value === 1 ? '1 report' : `${count(value)} reports`);

type View = { base: string; now: Date };

function reportItem(view: View, { serverId, server, complaints }: ServerComplaints): Html {
  const { base, now } = view;
  const ids = complaints.map(({ _id }) => _id);
  const [newest] = complaints;
  const name = server?.name ?? 'a removed server';
  const of = `${reports(complaints.length)} about ${name}`;
  const close = button({
    to: adminPath(base, '/attention/reports'),
    text: complaints.length > 1 ? 'Close all' : 'Close',
    hidden: { decision: 'close', item: joinedIds(ids) },
    kind: 'primary',
    of,
  });
  return inboxItem({
    id: `${serverId.toHexString()}`,
    select: { value: joinedIds(ids), of },
    title: server
      ? html`${reports(complaints.length)} about <a href="${adminServerPath(base, server)}"><bdi>${name}</bdi></a>`
      : of,
    badges: server?.hiddenAt ? badge('bad', 'hidden') : '',
    at: newest ? timeAgo(newest.at, now) : '',
    body: reportTable(view, of, complaints),
    actions: html`${keyed('a', close)}
      ${server && !server.hiddenAt ? keyed('x', hideAction(base, 'reports', server)) : ''}`,
  });
}

function reportTable({ base, now }: View, of: string, rows: Complaint[]): Html {
  return dataTable<Complaint>({
    caption: of,
    rows,
    empty: '',
    columns: [
      { title: 'Reason', heads: true, cell: ({ kind }) => t(COMPLAINT_TEXTS[kind]) },
      { title: 'Text', cell: ({ text }) => html`<bdi>${text ?? ''}</bdi>` },
      {
        title: 'By',
        cell: ({ userId }) =>
          userId
            ? html`<a href="${adminPath(base, `/users/${userId.toHexString()}`)}">a user</a>`
            : 'a visitor',
      },
      { title: 'Sent', cell: ({ at }) => timeAgo(at, now) },
    ],
  });
}
