import { t } from '../../../language/t.ts';
import type { Complaint, ComplaintKind } from '../../../moderation/complaint.ts';
import {
  closeComplaints,
  openComplaints,
  reopenComplaints,
  type ServerComplaints,
} from '../../../moderation/complaints.ts';
import { COMPLAINT_TEXTS } from '../../shared/complaint-texts.ts';
import { count, timeAgo } from '../../shared/format.ts';
import { type Html, html } from '../../shared/html.ts';
import { badge, button } from '../../shared/parts.ts';
import { adminPath, adminServerPath } from '../admin-frame.ts';
import { type Inbox, type InboxItem, type InboxView, joinedIds, type KindOfItem } from './inbox.ts';
import { hideAction, type ItemDecisions, itemDecisions } from './inbox-decisions.ts';
import { keyed } from './inbox-parts.ts';

/** The reports on a page, and the most that one decision closes. */
const ROWS = 50;

/** The open reports about one server on this page are one item. */
export function reportsKind(inbox: Inbox): KindOfItem {
  const { deps, base } = inbox;
  return {
    ...itemDecisions(inbox, DECISIONS),
    read: async (view) => {
      const { rows, next } = await openComplaints(deps, { from: view.from, limit: view.limit ?? ROWS });
      return { items: rows.map((row) => reportItem(base, view, row)), next };
    },
    empty: 'No open reports.',
  };
}

/** For the list, which cuts long texts. */
const SHORT: Record<ComplaintKind, string> = {
  'fake-figures': 'Made-up figures',
  offensive: 'Offensive',
  scam: 'Cheats or harms',
  'not-theirs': 'Copies a server',
  other: 'Something else',
};

const reports = (value: number) => (value === 1 ? '1 report' : `${count(value)} reports`);

const DECISIONS: ItemDecisions = {
  tab: 'reports',
  most: ROWS,
  items: 'reports',
  decision: {
    name: 'close',
    text: 'Close',
    run: (deps, ids, closingId, by) => closeComplaints(deps, { ids, closingId }, by),
    said: (changed) => `${reports(changed)} closed.`,
    missed: (missed) => `${reports(missed)} had been closed already.`,
    of: 'closing',
  },
  undo: {
    name: 'reopen',
    run: (deps, ids, closingId, by) => reopenComplaints(deps, { ids, closingId }, by),
    said: (changed) => `${reports(changed)} open again.`,
  },
};

function reportItem(
  base: string,
  view: InboxView,
  { serverId, server, complaints }: ServerComplaints,
): InboxItem {
  const { now, to } = view;
  const ids = complaints.map(({ _id }) => _id);
  const [newest] = complaints;
  const name = server?.name ?? 'a removed server';
  const of = `${reports(complaints.length)} about ${name}`;
  const more = complaints.length > 1 ? `, ${count(complaints.length - 1)} more` : '';
  const close = button({
    to: to('/reports'),
    text: complaints.length > 1 ? 'Close all' : 'Close',
    hidden: { decision: 'close', item: joinedIds(ids), seen: now.toISOString() },
    kind: 'primary',
    of,
  });
  return {
    kind: 'reports',
    id: serverId.toHexString(),
    at: newest?.at ?? null,
    select: { value: joinedIds(ids), of },
    what: newest ? `Report: ${SHORT[newest.kind].toLowerCase()}${more}` : '',
    where: html`<bdi>${name}</bdi>`,
    title: html`${reports(complaints.length)} about <bdi>${name}</bdi>`,
    since: html`${newest ? html`Sent ${timeAgo(newest.at, now)}` : ''}${
      server?.hiddenAt ? html` ${badge('bad', 'hidden')}` : ''
    }`,
    body: complaints.map((one) => reportText(base, now, one)),
    actions: html`${keyed('a', close)}
      ${server && !server.hiddenAt ? keyed('x', hideAction(view, 'reports', server)) : ''}
      ${server ? html`<a href="${adminServerPath(base, server)}">Open the server</a>` : ''}`,
  };
}

function reportText(base: string, now: Date, { kind, text, userId, at }: Complaint): Html {
  const by = userId
    ? html`<a href="${adminPath(base, `/users/${userId.toHexString()}`)}">a user</a>`
    : 'a visitor';
  return html`<div><p><b>${t(COMPLAINT_TEXTS[kind])}</b></p>
    ${text ? html`<blockquote class="quote" dir="auto">${text}</blockquote>` : ''}
    <p class="soft small">By ${by}, ${timeAgo(at, now)}</p></div>`;
}
