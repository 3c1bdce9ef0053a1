import { t } from '../../../language/t.ts';
import type { Complaint } from '../../../moderation/complaint.ts';
import {
  closeComplaints,
  openComplaints,
  reopenComplaints,
  type ServerComplaints,
} from '../../../moderation/complaints.ts';
import { COMPLAINT_TEXTS } from '../../shared/complaint-texts.ts';
import { emptyLine } from '../../shared/empty-card.ts';
import { count, timeAgo } from '../../shared/format.ts';
import { type Html, html } from '../../shared/html.ts';
import { badge, button, dataTable } from '../../shared/parts.ts';
import { adminPath, serverLink } from '../admin-frame.ts';
import { type Inbox, joinedIds, type TabOf } from './inbox.ts';
import {
  hideAction,
  hidingResult,
  type ItemDecisions,
  itemDecisionsForm,
  itemDecisionsResult,
} from './inbox-decisions.ts';
import { inboxItem, keyed, keysHint, listPage, manyButton, manyForm } from './inbox-parts.ts';

/** The reports on a page, and the most that one decision closes. */
const ROWS = 50;

/** The open reports about one server on this page are one item. */
export function reportsTab(inbox: Inbox): TabOf {
  const { deps, base } = inbox;
  itemDecisionsForm(inbox, DECISIONS);
  return async (_request, query) => {
    const { from } = query;
    const { rows, next } = await openComplaints(deps, { from, limit: ROWS });
    const view = { base, now: deps.clock.now() };
    const many = manyForm({
      to: adminPath(base, '/attention/reports'),
      buttons: manyButton({ value: 'close', text: 'Close selected', key: 'a' }),
    });
    const body = html`${itemDecisionsResult(base, DECISIONS, query)} ${await hidingResult(inbox, 'reports', query)}
      ${
        rows.length === 0
          ? emptyLine('No open reports.')
          : html`${keysHint({ a: 'close', x: 'hide the server' })} ${rows.map((row) => reportItem(view, row))} ${many}`
      }`;
    return listPage(base, 'reports', body, { from, next, count: rows.length });
  };
}

const reports = (value: number) => (value === 1 ? '1 report' : `${count(value)} reports`);

const DECISIONS: ItemDecisions = {
  tab: 'reports',
  most: ROWS,
  items: 'reports',
  decision: {
    name: 'close',
    run: closeComplaints,
    said: (changed) => `${reports(changed)} closed.`,
    missed: (missed) => `${reports(missed)} had been closed already.`,
    of: 'closing',
  },
  undo: { name: 'reopen', run: reopenComplaints, said: (changed) => `${reports(changed)} open again.` },
};

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
    title: server ? html`${reports(complaints.length)} about ${serverLink(base, server)}` : of,
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
