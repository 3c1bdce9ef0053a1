import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { type Named, type UnusualFigures, unusualFigures } from '../../../moderation/needs-attention.ts';
import { after, DAY } from '../../../platform/clock.ts';
import { allowVotes } from '../../../ranking/evidence/allow-votes.ts';
import { isId } from '../../../servers/slug.ts';
import { userOf } from '../../guard-routes.ts';
import { OPERATOR } from '../../route-options.ts';
import { emptyLine } from '../../shared/empty-card.ts';
import { fieldText, queryText } from '../../shared/form.ts';
import { formRoute, refused } from '../../shared/form-route.ts';
import { count, counted, decimal, timeAgo } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { button } from '../../shared/parts.ts';
import { adminPath, adminServerPath } from '../admin-frame.ts';
import { idField } from '../exclusion-form.ts';
import { minuteOf } from '../utc-fields.ts';
import { type Inbox, type TabOf, wholeNumber } from './inbox.ts';
import { keysHint, resultNotice } from './inbox-parts.ts';
import { inboxPath } from './inbox-tabs.ts';
import { serverCard } from './server-card.ts';

/** The tab of servers with unusual numbers of votes or players. */
export function figuresTab(inbox: Inbox): TabOf {
  const { deps, base } = inbox;
  allowForm(inbox);
  return async (_request, query) => {
    const found = await unusualFigures(deps);
    const view = { base, now: deps.clock.now() };
    const cards = [
      unusualCard(view, found.unusualVotes),
      waitingCard(view, found.waitingVotes),
      jumpedCard(view, found.playersJumped),
      differingCard(view, found.playersDiffer),
    ].filter((one) => one !== null);
    const result = await allowResult(inbox, query);
    return {
      body: html`${result} ${cards.length > 0 ? html`${keysHint({})} ${cards}` : emptyLine('No figures are unusual.')}`,
    };
  };
}

/** The form with which an operator allows the votes of a server that wait, and takes this back. */
function allowForm({ app, deps, base, numbers }: Inbox): void {
  formRoute(app, {
    path: '/attention/allow-votes',
    access: OPERATOR,
    schema: z.object({ server: idField, votes: fieldText, before: fieldText }),
    run: async ({ request, data: { server, votes, before } }) => {
      const reason = 'Decided in the inbox';
      const allowed = await allowVotes(deps, new ObjectId(server), { votes, reason }, userOf(request).email);
      numbers.forget();
      if (!allowed) return refused(404, 'This server does not exist, or was removed.');
      return inboxPath(base, 'figures', { done: 'allowed', server, before });
    },
  });
}

/** A notice after votes were allowed, with a button that restores the earlier allowance. Empty after other actions. */
async function allowResult(
  { deps, base }: Inbox,
  { done, server = '', before }: Record<string, string>,
): Promise<Content> {
  if (done !== 'allowed' || !isId(server)) return '';
  const found = await deps.servers.findOne(
    { _id: new ObjectId(server) },
    { projection: { name: 1, voteAllowance: 1 } },
  );
  if (!found) return '';
  const votes = found.voteAllowance?.votes ?? 0;
  const earlier = wholeNumber(before);
  const text = html`<a href="${adminServerPath(base, found, '#rank')}"><bdi>${found.name}</bdi></a>:
    ${counted(votes, 'vote')} a day need no evidence. The next ranking counts them.`;
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

type View = { base: string; now: Date };

function unusualCard({ base }: View, kind: UnusualFigures['unusualVotes']): Html | null {
  return serverCard({
    title: 'Unusual votes',
    about:
      'These servers received far more votes in 24 hours, with all of their tokens and on the pages, than they have players. Players count up to twice the usual number (at least 25), reported ones up to 50.',
    kind,
    link: ({ server, at }) => {
      const since = minuteOf(after(at, -DAY));
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

/** Links to the form that excludes the votes since 24 hours before `at`: all, or those of the busiest token. */
function excludeLinks(base: string, row: UnusualFigures['unusualVotes']['rows'][number]): Html {
  const { server, at, tokenId } = row;
  const link = (token: string | undefined, text: string) => {
    const range = { server: server._id.toHexString(), token, since: minuteOf(after(at, -DAY)) };
    return html`<a href="${adminPath(base, `/votes/exclude${queryText(range)}`)}">${text}</a>`;
  };
  return html`${link(undefined, 'All…')} ${tokenId ? link(tokenId.toHexString(), 'Of this token…') : ''}`;
}

function waitingCard({ base }: View, kind: UnusualFigures['waitingVotes']): Html | null {
  return serverCard({
    title: 'Votes that wait in the ranking',
    about:
      'A day had far more votes than the server has players, or many votes through the API of names that never voted on its page. They were delivered and are in all counts, but do not count for the rank until you allow them. “Allow” lets as many votes a day count as the busiest day had; the server’s page takes another number.',
    kind,
    link: ({ server }) => adminServerPath(base, server, '#rank'),
    columns: [
      { title: 'Votes in 30 days', kind: 'number', cell: ({ votesCount }) => count(votesCount) },
      { title: 'On the busiest day', kind: 'number', cell: ({ busiestDay }) => count(busiestDay) },
      { title: 'Waiting', kind: 'number', cell: ({ waiting }) => count(waiting) },
      {
        title: 'Decide',
        cell: ({ server, busiestDay, allowed }) =>
          busiestDay > allowed
            ? allowButton(base, server, {
                votes: busiestDay,
                before: allowed,
                text: `Allow ${count(busiestDay)} a day`,
              })
            : 'Allowed from the next ranking on',
      },
    ],
  });
}

function jumpedCard({ base, now }: View, kind: UnusualFigures['playersJumped']): Html | null {
  return serverCard({
    title: 'Players jumped',
    about:
      'Our check found more than ten times the usual players (the median of the last seven days), within the last week. A game server can tell us any number. For the rank, more than twice the usual players count only after four days.',
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
