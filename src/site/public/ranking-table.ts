import { t } from '../../language/t.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import type { Rating, Sort } from '../../ranking/sorts.ts';
import type { Tag } from '../../servers/tag-list.ts';
import { RANKING_DAYS } from '../../votes/vote-figures.ts';
import { country } from '../shared/flags.ts';
import { count, day, decimal } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Column, dataTable } from '../shared/parts.ts';
import { iconImage, tagChips } from '../shared/profile-parts.ts';
import { reportedMark } from '../shared/server-figures.ts';
import { badgeOf } from '../shared/server-status.ts';
import { sparkline } from './sparkline.ts';
import { star } from './star.ts';

/** A row shows this many tags. The server's page shows all. */
const SHOWN_TAGS = 4;

/**
 * The table of servers on a page of the ranking. If the list has another order, the figure of this order has a column.
 *
 * @param favourites - the favourites of the user (`favouriteIds`); null when nobody is signed in
 */
export function rankingTable(
  base: string,
  caption: string,
  rows: ListedRow[],
  {
    empty,
    sort = 'rank',
    favourites,
    tags,
  }: { empty: Content; sort?: Sort; favourites: Set<string> | null; tags: Tag[] },
): Html {
  const starOf = (row: ListedRow) =>
    favourites ? star({ base }, { ...row, isFavourite: favourites.has(row.id) }) : '';
  return html`<section class="card ranking">${dataTable({
    caption,
    rows,
    empty,
    columns: [
      {
        title: t('Rank'),
        kind: 'number',
        ...(sort === 'rank' ? { sorted: 'ascending' } : {}),
        cell: ({ rank }) => html`<span class="place">${count(rank)}</span>`,
      },
      {
        title: t('Server'),
        heads: true,
        cell: (row) => html`${starOf(row)}${nameCell(base, row, tags)}`,
      },
      { title: t('Status'), cell: ({ status, game }) => badgeOf(status, game) },
      {
        title: t('Players'),
        kind: 'number',
        ...(sort === 'players' ? { sorted: 'descending' } : {}),
        cell: players,
      },
      { title: t('Last 7 days'), cell: (row) => sparkline(row.players) },
      lastColumn(sort),
    ],
  })}</section>`;
}

/** The cell with a server's icon, name, short text and tags. */
function nameCell(base: string, row: ListedRow, tags: Tag[]): Html {
  const icon = iconImage(base, row.icon, 24);
  const text = row.shortText ? html`<span class="short-text" dir="auto">${row.shortText}</span>` : '';
  return html`${icon}<a href="${base}/servers/${row.slug}"><bdi>${row.name}</bdi></a>
    ${row.isPremium ? premiumMark(base) : ''}
    <span class="about">${about(base, row)}</span>
    ${text}${tagChips(base, row.tags, tags, SHOWN_TAGS)}`;
}

/**
 * The last column: the figure of the order. If the order is by players, who have a column anyway: the votes, as in the
 * ranking.
 */
function lastColumn(sort: Sort): Column<ListedRow> {
  const column = { kind: 'number', sorted: 'descending' } as const;
  switch (sort) {
    case 'newest':
      return { ...column, title: t('Listed'), cell: ({ listedAt }) => day(listedAt) };
    case 'rating':
      return { ...column, title: t('Rating'), cell: ({ rating }) => ratingText(rating) };
    case 'uptime':
      return {
        ...column,
        title: t('Uptime in 30 days'),
        cell: ({ probedUptime }) => uptimeText(probedUptime),
      };
    default:
      return {
        title: t('Votes in {days} days', { days: RANKING_DAYS }),
        kind: 'number',
        cell: votesText,
      };
  }
}

function votesText({ votesCount, rankVotes }: ListedRow): Html {
  const weight =
    rankVotes === votesCount
      ? ''
      : html` <span class="soft">${t('{votes} for the rank', { votes: decimal(rankVotes) })}</span>`;
  return html`${count(votesCount)}<span class="unit"> ${votesCount === 1 ? t('vote') : t('votes')}</span>${weight}`;
}

function ratingText(rating: Rating | null | undefined): Html {
  if (!rating) return html`<span class="soft">${t('no reviews')}</span>`;
  const unit = html`<span class="for-readers"> ${rating.reviews === 1 ? t('review') : t('reviews')}</span>`;
  return html`${decimal(rating.average)} <span class="soft">${t('of 5')} (${count(rating.reviews)}${unit})</span>`;
}

function uptimeText(uptime: number | null): Html {
  if (uptime === null) return html`<span class="soft">${t('not known')}</span>`;
  return html`${decimal(uptime)} %<span class="unit"> ${t('online')}</span>`;
}

/** The mark of a premium server, with a link that explains it. Premium does not change the rank. */
export function premiumMark(base: string): Html {
  const title = t('A label by the operator. It does not change the rank.');
  return html`<a class="premium" href="${base}/how-ranking-works#premium" title="${title}">${t('Premium')}</a>`;
}

/** Game, country and version of a server, if known. */
function about(base: string, { game, countryCode, version }: ListedRow): Content[] {
  const parts: Content[] = [
    game && html`<span>${gameName(game)}</span>`,
    countryCode && country(base, countryCode),
    version && html`<bdi class="version">${version}</bdi>`,
  ];
  return parts.filter(Boolean);
}

function players({ onlinePlayers, playersHidden, maxPlayers, status, source }: ListedRow): Html {
  if (playersHidden) return html`<span class="soft">${t('players hidden')}</span>`;
  if (status === 'unknown' && onlinePlayers === 0 && maxPlayers === 0) return html`–`;
  const most = t('of {maxPlayers}', { maxPlayers: count(maxPlayers) });
  return html`${[
    count(onlinePlayers),
    maxPlayers > 0 ? html` <span class="soft">${most}</span>` : '',
    source === 'reports' ? html` ${reportedMark()}` : '',
  ]}`;
}
