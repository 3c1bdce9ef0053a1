import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { DAYS_UNTIL_USUAL, USUAL_DAYS } from '../../../history/usual-players.ts';
import {
  type AttentionRows,
  type Named,
  type UnusualFigures,
  unusualFigures,
} from '../../../moderation/needs-attention.ts';
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
import { emptyLine } from '../../shared/empty-card.ts';
import { fieldText, queryText } from '../../shared/form.ts';
import { formRoute, refused } from '../../shared/form-route.ts';
import { count, counted, decimal, timeAgo } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { button } from '../../shared/parts.ts';
import { idField, utcFieldValue } from '../admin-fields.ts';
import { adminPath, adminServerPath, serverLink } from '../admin-frame.ts';
import { type Inbox, inboxPath, numberOrZero, type TabOf } from './inbox.ts';
import { keysHint, resultNotice, serverCard } from './inbox-parts.ts';

export function figuresTab(inbox: Inbox): TabOf {
  const { deps, base } = inbox;
  waitingForms(inbox);
  return async (_request, query) => {
    const found = await unusualFigures(deps);
    const view = { base, now: deps.clock.now() };
    const cards = [
      unusualCard(view, found.unusualVotes),
      waitingCard(view, await withUsualDays(deps, found.waitingVotes)),
      jumpedCard(view, found.playersJumped),
      differingCard(view, found.playersDiffer),
    ].filter((one) => one !== null);
    const result = await waitingResult(inbox, query);
    return {
      body: html`${result} ${cards.length > 0 ? html`${keysHint({})} ${cards}` : emptyLine('No figures are unusual.')}`,
    };
  };
}

function waitingForms({ app, deps, base, numbers }: Inbox): void {
  const noServer = () => refused(404, 'This server does not exist, or was removed.');
  formRoute(app, {
    path: '/attention/allow-votes',
    access: OPERATOR,
    schema: z.object({ server: idField, votes: fieldText, before: fieldText }),
    run: async ({ by, data: { server, votes, before } }) => {
      const reason = 'Decided in the inbox';
      const found = await allowVotes(deps, new ObjectId(server), { votes, reason }, by);
      numbers.forget();
      return found ? inboxPath(base, 'figures', { done: 'allowed', server, before }) : noServer();
    },
  });
  formRoute(app, {
    path: '/attention/leave-votes',
    access: OPERATOR,
    schema: z.object({ server: idField, left: z.enum(['yes', 'no']) }),
    run: async ({ by, data: { server, left } }) => {
      const found = await leaveWaiting(deps, new ObjectId(server), left === 'yes', by);
      numbers.forget();
      return found ? inboxPath(base, 'figures', { done: `left-${left}`, server }) : noServer();
    },
  });
}

async function waitingResult(
  { deps, base }: Inbox,
  { done = '', server = '', before }: Record<string, string>,
): Promise<Content> {
  if (!['allowed', 'left-yes', 'left-no'].includes(done) || !isId(server)) return '';
  const found = await deps.servers.findOne(
    { _id: new ObjectId(server) },
    { projection: { name: 1, voteAllowance: 1 } },
  );
  if (!found) return '';
  const name = serverLink(base, found, '#rank');
  if (done === 'left-no') return resultNotice('good', html`${name} is in the inbox again.`);
  if (done === 'left-yes') {
    const text = html`${name}: its votes go on waiting. The inbox does not show it for ${LEFT_MS / DAY} days.`;
    return resultNotice('good', text, leaveButton(base, found, 'no', 'Undo'));
  }
  const votes = found.voteAllowance?.votes ?? 0;
  const earlier = numberOrZero(before);
  const text =
    votes === 0
      ? html`${name}: the allowance was taken back.`
      : html`${name}: ${counted(votes, 'vote')} a day need no evidence, until you change that.
          The next ranking counts them.`;
  if (votes === earlier) return resultNotice('good', text);
  return resultNotice(
    'good',
    text,
    allowButton(base, found, { votes: earlier, before: votes, text: 'Undo' }),
  );
}

function allowButton(
  base: string,
  { _id, name }: Named,
  { votes, before, text }: { votes: number; before: number; text: string },
): Html {
  const hidden = { server: _id.toHexString(), votes: String(votes), before: String(before) };
  return button({ to: adminPath(base, '/attention/allow-votes'), text, hidden, of: name });
}

function leaveButton(base: string, { _id, name }: Named, left: 'yes' | 'no', text: string): Html {
  const hidden = { server: _id.toHexString(), left };
  return button({ to: adminPath(base, '/attention/leave-votes'), text, hidden, of: name });
}

type View = { base: string; now: Date };

type WaitingVotes = UnusualFigures['waitingVotes']['rows'][number] & { usualDay: number; busiestDay: number };

async function withUsualDays(
  deps: AppDeps,
  { rows, more }: UnusualFigures['waitingVotes'],
): Promise<AttentionRows<WaitingVotes>> {
  const withDays = rows.map(async (row) => {
    const days = await votesByDay(deps, row.server._id, RANKING_DAYS);
    const votes = days
      .map((day) => day.votes)
      .filter((count) => count > 0)
      .toSorted((a, b) => a - b);
    return { ...row, usualDay: votes[Math.floor(votes.length / 2)] ?? 0, busiestDay: votes.at(-1) ?? 0 };
  });
  return { rows: await Promise.all(withDays), more };
}

function unusualCard({ base }: View, kind: UnusualFigures['unusualVotes']): Html | null {
  return serverCard({
    title: 'Unusual votes',
    about: `These servers received far more votes in ${UNUSUAL_HOURS} hours, with all of their tokens and on the pages, than they have players. More than ${ASSUMED_PLAYERS} players count up to twice the usual number, reported ones up to ${MOST_REPORTED_PLAYERS}.`,
    kind,
    link: ({ server, at }) => {
      const since = utcFieldValue(after(at, -UNUSUAL_HOURS * HOUR));
      const search = { server: server._id.toHexString(), since };
      return adminPath(base, `/votes${queryText(search)}`);
    },
    columns: [
      { title: 'Players', kind: 'number', cell: ({ players }) => count(players) },
      { title: 'Votes', kind: 'number', cell: ({ votes }) => count(votes) },
      { title: 'On pages', kind: 'number', cell: ({ web }) => count(web ?? 0) },
      { title: 'With the busiest token', kind: 'number', cell: ({ ofToken }) => count(ofToken ?? 0) },
      { title: 'Decide', cell: (row) => excludeLinks(base, row) },
    ],
  });
}

function excludeLinks(base: string, row: UnusualFigures['unusualVotes']['rows'][number]): Html {
  const { server, at, tokenId } = row;
  const link = (token: string | undefined, text: string) => {
    const range = { server: server._id.toHexString(), token, since: utcFieldValue(after(at, -DAY)) };
    return html`<a href="${adminPath(base, `/votes/exclude${queryText(range)}`)}">${text}</a>`;
  };
  return html`${link(undefined, 'All…')} ${tokenId ? link(tokenId.toHexString(), 'Of this token…') : ''}`;
}

function waitingCard({ base }: View, kind: AttentionRows<WaitingVotes>): Html | null {
  return serverCard({
    title: 'Votes that wait in the ranking',
    about:
      'A day had far more votes than the server has players, or many votes through the API of names that hardly voted on its page. They were delivered and are in all counts, but do not count for the rank until you allow them. “Allow” lets twice as many votes a day count as the server usually has; its page takes another number. “Leave” keeps them waiting.',
    kind,
    link: ({ server }) => adminServerPath(base, server, '#rank'),
    columns: [
      { title: `Votes in ${RANKING_DAYS} days`, kind: 'number', cell: ({ votesCount }) => count(votesCount) },
      { title: 'On a usual day', kind: 'number', cell: ({ usualDay }) => count(usualDay) },
      { title: 'On the busiest day', kind: 'number', cell: ({ busiestDay }) => count(busiestDay) },
      { title: 'Waiting', kind: 'number', cell: ({ waiting }) => count(waiting) },
      { title: 'Decide', cell: (row) => waitingDecisions(base, row) },
    ],
  });
}

function waitingDecisions(base: string, row: WaitingVotes): Html {
  const { server, usualDay, allowed } = row;
  const votes = TIMES_USUAL * usualDay;
  const allow =
    votes > allowed
      ? allowButton(base, server, { votes, before: allowed, text: `Allow ${count(votes)} a day` })
      : `${count(allowed)} a day are allowed.`;
  return html`${allow} ${leaveButton(base, server, 'yes', 'Leave')}`;
}

function jumpedCard({ base, now }: View, kind: UnusualFigures['playersJumped']): Html | null {
  return serverCard({
    title: 'Players jumped',
    about: `Within the last week, our check found more than ${JUMP_TIMES} times the usual players: the median of the most players of ${USUAL_DAYS} days, 0 for a new server. A game server can tell us any number. For the rank, more than twice the usual players count only after ${DAYS_UNTIL_USUAL} days.`,
    kind,
    link: ({ server }) => adminServerPath(base, server),
    columns: [
      { title: 'Found', cell: ({ at }) => timeAgo(at, now) },
      { title: 'Usual players', kind: 'number', cell: ({ usual }) => decimal(usual) },
      { title: 'Players', kind: 'number', cell: ({ players }) => count(players) },
    ],
  });
}

function differingCard({ base, now }: View, kind: UnusualFigures['playersDiffer']): Html | null {
  return serverCard({
    title: 'Player counts differ',
    about: 'The number of players that the server reports differs widely from our own checks.',
    kind,
    link: ({ server }) => adminServerPath(base, server),
    columns: [
      { title: 'Compared', cell: ({ at }) => timeAgo(at, now) },
      { title: 'Reported', kind: 'number', cell: ({ reported }) => count(reported) },
      { title: 'Checked', kind: 'number', cell: ({ probed }) => count(probed) },
    ],
  });
}
