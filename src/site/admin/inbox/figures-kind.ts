import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { DAYS_UNTIL_USUAL, USUAL_DAYS } from '../../../history/usual-players.ts';
import { type Named, type UnusualFigures, unusualFigures } from '../../../moderation/needs-attention.ts';
import { UNUSUAL_HOURS } from '../../../moderation/unusual-votes.ts';
import { after, DAY, HOUR } from '../../../platform/clock.ts';
import { JUMP_TIMES } from '../../../probing/players-jump.ts';
import type { AppDeps } from '../../../process/app-deps.ts';
import { allowVotes, LEFT_MS, leaveWaiting } from '../../../ranking/evidence/allow-votes.ts';
import { ASSUMED_PLAYERS, TIMES_USUAL } from '../../../ranking/evidence/weigh-day.ts';
import { isId } from '../../../servers/slug.ts';
import { RANKING_DAYS } from '../../../votes/ranking-period.ts';
import { votesByDay } from '../../../votes/vote-figures.ts';
import { MOST_REPORTED_PLAYERS } from '../../../votes/web/suspicion.ts';
import { OPERATOR } from '../../route-options.ts';
import { fieldText, queryText } from '../../shared/form.ts';
import { formRoute, refused } from '../../shared/form-route.ts';
import { count, counted, decimal, timeAgo } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { button } from '../../shared/parts.ts';
import { idField, utcFieldValue } from '../admin-fields.ts';
import { adminPath, adminServerPath, serverLink } from '../admin-frame.ts';
import {
  backToList,
  formAddress,
  type Inbox,
  type InboxItem,
  type InboxView,
  isOfAll,
  type KindOfItem,
  numberOrZero,
} from './inbox.ts';
import { noServer } from './inbox-decisions.ts';
import { evidence, keyed, resultNotice } from './inbox-parts.ts';
import { moreOf } from './listeners-kind.ts';

export function figuresKind(inbox: Inbox): KindOfItem {
  const { deps, base } = inbox;
  waitingForms(inbox);
  return {
    result: (query) => waitingResult(inbox, query),
    read: async (list) => {
      const { unusualVotes, waitingVotes, playersJumped, playersDiffer } = await unusualFigures(deps);
      const view = { ...list, base };
      const items = [
        ...unusualVotes.rows.map((row) => unusualItem(view, row)),
        ...(await Promise.all(waitingVotes.rows.map((row) => waitingItem(deps, view, row)))),
        ...playersJumped.rows.map((row) => jumpedItem(view, row)),
        ...playersDiffer.rows.map((row) => differingItem(view, row)),
      ];
      return { items, about: moreOf([unusualVotes, waitingVotes, playersJumped, playersDiffer]) };
    },
    empty: 'No figures are unusual.',
  };
}

function waitingForms({ app, deps, base, numbers }: Inbox): void {
  formRoute(app, {
    path: '/attention/allow-votes',
    access: OPERATOR,
    schema: z.object({ server: idField, votes: fieldText, before: fieldText }),
    run: async ({ request, by, data: { server, votes, before } }) => {
      const reason = 'Decided in the inbox';
      const seen = numberOrZero(before);
      const found = await allowVotes(deps, new ObjectId(server), { votes, reason, seen }, by);
      numbers.forget();
      if (found) return backToList(request, base, 'figures', { done: 'allowed', server, before });
      return refused(409, 'Another operator changed the allowance meanwhile, or the server was removed.');
    },
  });
  formRoute(app, {
    path: '/attention/leave-votes',
    access: OPERATOR,
    schema: z.object({ server: idField, left: z.enum(['yes', 'no']) }),
    run: async ({ request, by, data: { server, left } }) => {
      const found = await leaveWaiting(deps, new ObjectId(server), left === 'yes', by);
      numbers.forget();
      return found ? backToList(request, base, 'figures', { done: `left-${left}`, server }) : noServer();
    },
  });
}

async function waitingResult({ deps, base }: Inbox, query: Record<string, string>): Promise<Content> {
  const { done = '', server = '', before } = query;
  if (!['allowed', 'left-yes', 'left-no'].includes(done) || !isId(server)) return '';
  const found = await deps.servers.findOne(
    { _id: new ObjectId(server) },
    { projection: { name: 1, voteAllowance: 1 } },
  );
  if (!found) return '';
  const name = serverLink(base, found, '#rank');
  const to = formAddress(base, isOfAll(query));
  if (done === 'left-no') return resultNotice('good', html`${name} is in the inbox again.`);
  if (done === 'left-yes') {
    const text = html`${name}: its votes go on waiting. The inbox does not show it for ${LEFT_MS / DAY} days.`;
    return resultNotice('good', text, leaveButton(to, found, 'no', 'Undo'));
  }
  const votes = found.voteAllowance?.votes ?? 0;
  const earlier = numberOrZero(before);
  const text =
    votes === 0
      ? html`${name}: the allowance was taken back.`
      : html`${name}: ${counted(votes, 'vote')} a day need no evidence, until you change that.
          The next ranking counts them.`;
  if (votes === earlier) return resultNotice('good', text);
  return resultNotice('good', text, allowButton(to, found, { votes: earlier, before: votes, text: 'Undo' }));
}

type Address = InboxView['to'];

function allowButton(
  to: Address,
  { _id, name }: Named,
  { votes, before, text }: { votes: number; before: number; text: string },
  kind?: 'primary',
): Html {
  const hidden = { server: _id.toHexString(), votes: String(votes), before: String(before) };
  return button({ to: to('/allow-votes'), text, hidden, of: name, ...(kind ? { kind } : {}) });
}

function leaveButton(to: Address, { _id, name }: Named, left: 'yes' | 'no', text: string): Html {
  const hidden = { server: _id.toHexString(), left };
  return button({ to: to('/leave-votes'), text, hidden, of: name });
}

type View = InboxView & { base: string };
type RowOf<K extends keyof UnusualFigures> = UnusualFigures[K]['rows'][number];

function item(
  { base }: View,
  server: Named,
  item: Pick<InboxItem, 'id' | 'at' | 'what' | 'title' | 'since' | 'actions'> & {
    text: string;
    facts: [string, Content][];
    anchor?: string;
  },
): InboxItem {
  const { id, text, facts, actions, anchor = '', ...rest } = item;
  return {
    kind: 'figures',
    id: `${id}-${server._id.toHexString()}`,
    where: html`<bdi>${server.name}</bdi>`,
    body: html`<p>${text}</p>${evidence(facts)}`,
    actions: html`${actions}<a href="${adminServerPath(base, server, anchor)}">Open the server</a>`,
    ...rest,
  };
}

function unusualItem(view: View, row: RowOf<'unusualVotes'>): InboxItem {
  const { server, at, players, votes, web, ofToken, tokenId } = row;
  const { base, now } = view;
  const since = utcFieldValue(after(at, -UNUSUAL_HOURS * HOUR));
  const votesPath = adminPath(base, `/votes${queryText({ server: server._id.toHexString(), since })}`);
  const exclude = (token: string | undefined, text: string) => {
    const range = { server: server._id.toHexString(), token, since: utcFieldValue(after(at, -DAY)) };
    return html`<a class="button quiet" href="${adminPath(base, `/votes/exclude${queryText(range)}`)}">${text}</a>`;
  };
  return item(view, server, {
    id: 'votes',
    at,
    what: `${counted(votes, 'vote')}, ${counted(players, 'player')}`,
    title: html`Unusual votes for <bdi>${server.name}</bdi>`,
    since: html`Found ${timeAgo(at, now)}`,
    text: `It received far more votes in ${UNUSUAL_HOURS} hours, with all of its tokens and on the pages, than it has players. More than ${ASSUMED_PLAYERS} players count up to twice the usual number, reported ones up to ${MOST_REPORTED_PLAYERS}.`,
    facts: [
      ['Players', count(players)],
      ['Votes', html`<a href="${votesPath}">${count(votes)}</a>`],
      ['On pages', count(web ?? 0)],
      ['Busiest token', count(ofToken ?? 0)],
    ],
    actions: html`${keyed('a', exclude(undefined, 'Exclude all…'))}
      ${tokenId ? keyed('x', exclude(tokenId.toHexString(), 'Of this token…')) : ''}`,
  });
}

async function waitingItem(deps: AppDeps, view: View, row: RowOf<'waitingVotes'>): Promise<InboxItem> {
  const { server, waiting, votesCount, allowed } = row;
  const days = await votesByDay(deps, server._id, RANKING_DAYS);
  const votes = days.map((day) => day.votes).filter((count) => count > 0);
  const sorted = votes.toSorted((a, b) => a - b);
  const usualDay = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const most = TIMES_USUAL * usualDay;
  const allowing = { votes: most, before: allowed, text: `Allow ${count(most)} a day` };
  const allow =
    most > allowed
      ? keyed('a', allowButton(view.to, server, allowing, 'primary'))
      : html`<span>${count(allowed)} a day are allowed.</span>`;
  return item(view, server, {
    id: 'waiting',
    at: null,
    what: `${counted(waiting, 'vote')} not in the rank`,
    title: html`Votes of <bdi>${server.name}</bdi> that wait in the ranking`,
    since: 'Until you allow them',
    text: 'A day had far more votes than the server has players, or many votes through the API of names that hardly voted on its page. They were delivered and are in all counts, but do not count for the rank until you allow them. “Allow” lets twice as many votes a day count as the server usually has; its page takes another number. “Leave” keeps them waiting.',
    facts: [
      [`In ${RANKING_DAYS} days`, counted(votesCount, 'vote')],
      ['On a usual day', count(usualDay)],
      ['On the busiest day', count(sorted.at(-1) ?? 0)],
      ['Waiting', count(waiting)],
    ],
    actions: html`${allow} ${keyed('x', leaveButton(view.to, server, 'yes', 'Leave'))}`,
    anchor: '#rank',
  });
}

function jumpedItem(view: View, { server, at, usual, players }: RowOf<'playersJumped'>): InboxItem {
  return item(view, server, {
    id: 'jumped',
    at,
    what: `Players jumped to ${count(players)}`,
    title: html`Players of <bdi>${server.name}</bdi> jumped`,
    since: html`Found ${timeAgo(at, view.now)}`,
    text: `Within the last week, our check found more than ${JUMP_TIMES} times the usual players: the median of the most players of ${USUAL_DAYS} days, 0 for a new server. A game server can tell us any number. For the rank, more than twice the usual players count only after ${DAYS_UNTIL_USUAL} days.`,
    facts: [
      ['Usual players', decimal(usual)],
      ['Players', count(players)],
    ],
    actions: '',
  });
}

function differingItem(view: View, { server, at, reported, probed }: RowOf<'playersDiffer'>): InboxItem {
  return item(view, server, {
    id: 'differ',
    at,
    what: `${count(reported)} reported, ${count(probed)} checked`,
    title: html`Player counts of <bdi>${server.name}</bdi> differ`,
    since: html`Compared ${timeAgo(at, view.now)}`,
    text: 'The number of players that the server reports differs widely from our own checks.',
    facts: [
      ['Reported', count(reported)],
      ['Checked', count(probed)],
    ],
    actions: '',
  });
}
