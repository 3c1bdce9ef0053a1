import { html } from 'hono/html';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import type { Tag } from '../../servers/tag-list.ts';
import { countryName, gameName } from '../dashboard/server-fields.ts';
import { badgeOf } from '../dashboard/server-frame.ts';
import type { Content, Html } from '../html.ts';
import { dataTable } from '../parts.ts';
import { iconImage, tagChips } from '../profile-parts.ts';
import { reportedMark } from '../server-figures.ts';
import { count } from '../words.ts';
import { sparkline } from './sparkline.ts';

/** Tags in a row; the server's page has all. */
const SHOWN_TAGS = 4;

/** The table of servers on a page of the listing. */
export function rankingTable(
  base: string,
  caption: string,
  rows: ListedRow[],
  empty: Content,
  tags: Tag[] = [],
): Html {
  return html`<section class="card ranking">${dataTable({
    caption,
    rows,
    empty,
    columns: [
      {
        title: 'Rank',
        kind: 'number',
        cell: ({ place }) => html`<span class="place">${count(place)}</span>`,
      },
      {
        title: 'Server',
        heads: true,
        cell: (
          row,
        ) => html`${iconImage(base, row.icon, 24)}<a href="${base}/servers/${row.slug}"><bdi>${row.name}</bdi></a>
          ${row.isPremium ? premiumMark() : ''}
          <span class="about">${about(row)}</span>
          ${row.shortText ? html`<span class="short-text" dir="auto">${row.shortText}</span>` : ''}${tagChips(row.tags, tags, SHOWN_TAGS)}`,
      },
      { title: 'Status', cell: ({ status }) => badgeOf(status) },
      { title: 'Players', kind: 'number', cell: players },
      { title: 'Last 7 days', cell: (row) => sparkline(row.players) },
      { title: 'Votes this month', kind: 'number', cell: (row) => count(row.monthlyVotes) },
    ],
  })}</section>`;
}

/** Marks a premium server. Premium does not change the rank. */
export function premiumMark(): Html {
  return html`<span class="premium">Premium</span>`;
}

/** Game, country and version, if known. */
function about({ game, countryCode, version }: ListedRow): Content[] {
  const parts: Content[] = [
    game && html`<span>${gameName(game)}</span>`,
    countryCode &&
      html`<span><span class="code" aria-hidden="true">${countryCode}</span> ${countryName(countryCode)}</span>`,
    version && html`<bdi class="version">${version}</bdi>`,
  ];
  return parts.filter(Boolean);
}

function players({ onlinePlayers, maxPlayers, status, source }: ListedRow): Html {
  if (status === 'unknown' && onlinePlayers === 0 && maxPlayers === 0) return html`–`;
  return html`${count(onlinePlayers)}${maxPlayers > 0 ? html` <span class="soft">of ${count(maxPlayers)}</span>` : ''}${source === 'reports' ? html` ${reportedMark()}` : ''}`;
}
