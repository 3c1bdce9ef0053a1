import { t } from '../../../language/t.ts';
import { DELIVERY_EXPIRES_HOURS } from '../../../listeners/delivery-limits.ts';
import { FORGOTTEN_AFTER_MINUTES } from '../../../listeners/listener-state.ts';
import {
  type AttentionRows,
  FAILED_HOURS,
  listenersDown,
  type Named,
  type StuckListener,
} from '../../../moderation/needs-attention.ts';
import { createOpenVotes } from '../../../process/waiting-work.ts';
import { serverPath } from '../../shared/dashboard-paths.ts';
import { timeAgo } from '../../shared/format.ts';
import { type Content, html } from '../../shared/html.ts';
import { adminServerPath } from '../admin-frame.ts';
import type { Inbox, InboxItem, InboxView, KindOfItem } from './inbox.ts';
import { evidence, undeliveredCard, upTo } from './inbox-parts.ts';

/** Only owners can repair listeners; operators can help. */
export function listenersKind({ deps, base }: Inbox): KindOfItem {
  const openVotes = createOpenVotes(deps);
  return {
    result: async () => '',
    read: async (view) => {
      const { paused, unreachable, unfetched, failed } = await listenersDown(deps);
      const items = [
        ...paused.rows.map((row) => stuckItem(base, view, 'paused', row)),
        ...unreachable.rows.map((row) => stuckItem(base, view, 'unreachable', row)),
        ...unfetched.rows.map((row) => unfetchedItem(base, view, row)),
        ...failed.rows.map((row) => failedItem(base, view, row)),
      ];
      return { items, about: moreOf([paused, unreachable, unfetched, failed]) };
    },
    empty: 'No listener is down.',
    below: async () => undeliveredCard(await openVotes()),
  };
}

/** Each list of servers is bounded. */
export function moreOf(lists: AttentionRows<unknown>[]): Content {
  return lists.some(({ more }) => more) ? 'More servers are affected. Only the first ones are shown.' : '';
}

type Waiting = { server: Named; since: Date; waiting: number };

function waitingItem(
  base: string,
  { now }: InboxView,
  item: Waiting & Pick<InboxItem, 'id' | 'what' | 'title' | 'body'> & { facts?: [string, Content][] },
): InboxItem {
  const { id, what, title, body, server, since, waiting, facts = [] } = item;
  return {
    kind: 'listeners',
    id: `${id}-${server._id.toHexString()}`,
    at: since,
    what,
    where: html`<bdi>${server.name}</bdi>`,
    title,
    since: html`Since ${timeAgo(since, now)}`,
    body: html`<p>${body}</p>${evidence([...facts, ['Votes waiting', upTo(waiting)]])}`,
    actions: html`<a href="${adminServerPath(base, server)}">Open the server</a>`,
  };
}

const STUCK = {
  paused:
    'Paused because of a configuration error. Its votes wait until the owner fixes it and resumes the listener.',
  unreachable: 'Tested automatically. Its votes wait and are sent when the listener answers.',
};

function stuckItem(base: string, view: InboxView, state: keyof typeof STUCK, row: StuckListener): InboxItem {
  const { server, reason, waiting } = row;
  const { cause, words, since } = reason;
  return waitingItem(base, view, {
    id: state,
    server,
    since,
    waiting,
    what: `${upTo(waiting)} wait, ${state}`,
    title: html`Listener of <bdi>${server.name}</bdi> is ${state}`,
    body: STUCK[state],
    facts: [
      ['Reason', t(cause)],
      ['Listener’s answer', words ? html`“<bdi>${words}</bdi>”` : ''],
    ],
  });
}

function unfetchedItem(base: string, view: InboxView, row: Waiting): InboxItem {
  return waitingItem(base, view, {
    ...row,
    id: 'unfetched',
    what: `${upTo(row.waiting)} wait, not fetched`,
    title: html`Nobody fetches the votes of <bdi>${row.server.name}</bdi>`,
    body: `This server fetches its votes, and has not for ${FORGOTTEN_AFTER_MINUTES} minutes although votes wait. Its
      owner is notified; the votes fail ${DELIVERY_EXPIRES_HOURS} hours after they were cast.`,
  });
}

type Failed = { server: Named; votes: number; newest: Date };

function failedItem(base: string, { now }: InboxView, { server, votes, newest }: Failed): InboxItem {
  return {
    kind: 'listeners',
    id: `failed-${server._id.toHexString()}`,
    at: newest,
    what: `${upTo(votes)} failed`,
    where: html`<bdi>${server.name}</bdi>`,
    title: html`Failed votes of <bdi>${server.name}</bdi>`,
    since: html`The latest ${timeAgo(newest, now)}`,
    body: html`<p>Expired or refused by the listener in the last ${FAILED_HOURS} hours. They still count, and the owner
        can resend them.</p>${evidence([['Votes', upTo(votes)]])}`,
    actions: html`<a href="${serverPath(base, server, '/votes')}">Open the votes</a>`,
  };
}
