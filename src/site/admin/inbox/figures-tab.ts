import { type UnusualFigures, unusualFigures } from '../../../moderation/needs-attention.ts';
import { after, DAY } from '../../../platform/clock.ts';
import { emptyLine } from '../../shared/empty-card.ts';
import { queryText } from '../../shared/form.ts';
import { count, timeAgo } from '../../shared/format.ts';
import { type Html, html } from '../../shared/html.ts';
import { adminPath, adminServerPath } from '../admin-frame.ts';
import { minuteOf } from '../utc-fields.ts';
import type { Inbox, TabOf } from './inbox.ts';
import { keysHint } from './inbox-parts.ts';
import { serverCard } from './server-card.ts';

/** The tab of servers with unusual numbers of votes or players. */
export function figuresTab({ deps, base }: Inbox): TabOf {
  return async () => {
    const found = await unusualFigures(deps);
    const view = { base, now: deps.clock.now() };
    const cards = [
      unusualCard(view, found.unusualVotes),
      waitingCard(view, found.waitingVotes),
      differingCard(view, found.playersDiffer),
    ].filter((one) => one !== null);
    return { body: cards.length > 0 ? html`${keysHint({})} ${cards}` : emptyLine('No figures are unusual.') };
  };
}

type View = { base: string; now: Date };

function unusualCard({ base }: View, kind: UnusualFigures['unusualVotes']): Html | null {
  return serverCard({
    title: 'Unusual votes',
    about:
      'These servers received far more votes in 24 hours, with all of their tokens and on the pages, than they have players. Reported players count up to 50.',
    kind,
    link: ({ server, at }) => {
      const since = minuteOf(after(at, -DAY));
      const search = { server: server._id.toHexString(), since };
      return adminPath(base, `/votes${queryText(search)}`);
    },
    columns: [
      { title: 'Most players in 7 days', kind: 'number', cell: ({ players }) => count(players) },
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
      'A day had far more votes than our checks ever saw players. They were delivered and are in all counts; those above the limit do not count for the rank until you allow them on the server’s page.',
    kind,
    link: ({ server }) => adminServerPath(base, server, '#rank'),
    columns: [
      { title: 'Votes in 30 days', kind: 'number', cell: ({ votesCount }) => count(votesCount) },
      { title: 'Waiting', kind: 'number', cell: ({ waiting }) => count(waiting) },
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
