import { plural } from '../../language/plural.ts';
import { t } from '../../language/t.ts';
import type { Filters } from '../../ranking/filters.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import type { Choice, ListingSummary } from '../../ranking/ranked-list.ts';
import { searchedAddress } from '../../ranking/searched-address.ts';
import type { Tag } from '../../servers/tag-list.ts';
import { RANKING_DAYS, RANKS_EVERY_MINUTES } from '../../votes/ranking-period.ts';
import { countryName } from '../shared/country-names.ts';
import type { Site } from '../shared/decorate-site.ts';
import { emptyState } from '../shared/empty-state.ts';
import { count, counted, day } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { gamePicture } from '../shared/game-pictures.ts';
import { pixelPicture } from '../shared/generated-pictures.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { miniServer } from '../shared/server-parts.ts';
import { isNarrowed } from './list-texts.ts';
import { rankingFilterForm, searchForm, sortTabs } from './ranking-filters.ts';
import { gamePath, type RankingQuery, randomPath, rankingPath, tagPath } from './ranking-query.ts';
import { viewSwitch } from './server-list.ts';

/** The home page shows at most this many games. */
const GAME_TILES = 6;
const TILE_PIXELS = 48;

/** The head of the home page: the search, the figures of the whole listing, and the games with the most servers. */
export function hero(site: Site, summary: ListingSummary): Html {
  const games = summary.games.slice(0, GAME_TILES);
  return html`<section class="hero" aria-labelledby="title"><div class="in">
      <h1 id="title">${t('Find a server worth coming back to.')}</h1>
      ${searchForm(site.base, { q: '', filters: {} })}
      ${summary.servers > 0 ? totals(summary) : ''}</div></section>
    ${games.length > 1 ? mostListed(gameTiles(site, games)) : ''}`;
}

function mostListed(games: Html): Html {
  return html`<section class="game-tiles" aria-label="${t('Most listed games')}">${games}</section>`;
}

/** The figures of the whole listing. A summary that an older version stored has no players and votes. */
function totals({ servers, playing, votes }: ListingSummary): Html {
  const b = (text: Html) => html`<b>${text}</b>`;
  const playingNow = () => t('<b>{players}</b> playing now', { players: count(playing ?? 0), b });
  const cast = () =>
    t('<b>{votes}</b> votes in {days} days', { votes: count(votes ?? 0), days: RANKING_DAYS, b });
  return html`<p class="totals"><span><b>${count(servers)}</b> ${plural(servers, t('server'), t('servers'))}</span>
    ${playing === undefined ? '' : html`<span>${playingNow()}</span>`}
    ${votes === undefined ? '' : html`<span class="wide-only">${cast()}</span>`}</p>`;
}

/** A list of links to the pages of games, with a picture and the number of servers of each. */
export function gameTiles(site: Site, games: Choice[]): Html {
  return tiles(
    games.map(({ value, servers }) => ({
      path: `${site.base}${gamePath(value)}`,
      picture: gamePicture(site, value, TILE_PIXELS),
      name: gameName(value),
      servers,
    })),
  );
}

/** A list of links to the pages of tags, with a picture and the number of servers of each. */
export function tagTiles({ base }: Site, tags: (Tag & { servers: number })[]): Html {
  return tiles(
    tags.map(({ key, name, servers }) => ({
      path: `${base}${tagPath(key)}`,
      picture: pixelPicture(key, TILE_PIXELS),
      name,
      servers,
    })),
  );
}

function tiles(shown: { path: string; picture: Html; name: string; servers: number }[]): Html {
  return html`<ul>${shown.map(({ path, picture, name, servers }) => {
    const unit = html`<span class="unit"> ${plural(servers, t('server'), t('servers'))}</span>`;
    return html`<li><a href="${path}">${picture}<b>${name}</b><span>${count(servers)}${unit}</span></a></li>`;
  })}</ul>`;
}

/** The head of a list that is not the home page: what it lists, and the search. */
export function listHead(
  { base }: Site,
  query: Pick<RankingQuery, 'q' | 'filters'>,
  { heading, detail, picture = '' }: { heading: Content; detail: Content; picture?: Content },
): Html {
  return html`<section class="list-head"><div class="in">${picture ? html`<div class="picture">${picture}</div>` : ''}
    <div class="text"><h1>${heading}</h1><p>${detail}</p></div>${searchForm(base, query)}</div></section>`;
}

/** The line above a list: its order, its filters and the view. The order of search results cannot be changed. */
export function listBar(base: string, query: RankingQuery, summary: ListingSummary, tags: Tag[]): Html {
  const filters = rankingFilterForm(base, query, summary, tags);
  return html`<div class="list-bar">${query.q ? '' : sortTabs(base, query)}${filters}${viewSwitch()}</div>`;
}

type Pages = {
  page: number;
  pages: number;
  first: string;
  last: string;
  previous: string | undefined;
  next: string | undefined;
};

/** The end of a list: links to a random server of the list and to its other pages, and a note on its order. */
export function listEnd(
  base: string,
  query: RankingQuery,
  { note, pages }: { note: Content; pages: Pages },
): Html {
  const random = html`<a class="button quiet" href="${base}${randomPath(query)}" rel="nofollow">${icon('shuffle')}${t(
    'Random server',
  )}</a>`;
  const howRanked = html`<a href="${base}/how-ranking-works">${t('How the ranking works')}</a>`;
  return html`<div class="list-end">${random}${pages.pages > 1 ? pageLinks(base, pages) : ''}</div>
    <p class="soft small list-note">${note} ${howRanked}</p>`;
}

function pageLinks(base: string, { page, pages, first, last, previous, next }: Pages): Html {
  const toFirst = page > 2 ? html`<a href="${base}${first}">1</a> … ` : '';
  const present = t('Page {page} of {pages}', {
    page: count(page),
    pages: page < pages - 1 ? html`<a href="${base}${last}">${count(pages)}</a>` : count(pages),
  });
  const to = (path: string, relation: string, text: Content) =>
    html`<a class="button quiet" href="${base}${path}" rel="${relation}">${text}</a>`;
  return html`<nav class="page-links" aria-label="${t('Pages')}">
    ${previous ? to(previous, 'prev', html`${icon('chevron-left')}${t('Previous page')}`) : ''}
    <span class="soft small">${toFirst}${present}</span>
    ${next ? to(next, 'next', html`${t('Next page')}${icon('chevron-right')}`) : ''}</nav>`;
}

export function nothingFound(site: Site, { q, filters }: RankingQuery): Html {
  const everywhere = `${site.base}${rankingPath({ q, filters: {}, sort: 'rank', page: 1 })}`;
  const search = html`<a class="button" href="${everywhere}">${t('Search all servers')}</a>`;
  const all = html`<a class="button quiet" href="${site.base}/">${t('Show the whole ranking')}</a>`;
  const advice = searchedAddress(q)?.isCertain
    ? t('Check the address, or search for the server’s name.')
    : t('Try a part of it, such as its rarest word. Small typos do no harm.');
  return emptyState(site, html`<p>${advice}</p>`, html`${isNarrowed(filters) ? search : ''}${all}`);
}

/** The text for an empty list. The page of a game or tag offers to add a server; otherwise, filters can be removed. */
export function noMatches(site: Site, { filters, tagName }: RankingQuery): Html {
  const { game, tag, country, version, online } = filters;
  const all = html`<a class="button quiet" href="${site.base}/">${t('All servers')}</a>`;
  if (!country && !version && !online && !(game && tag)) {
    const of = game ? gameName(game) : (tagName ?? '');
    const text = t(
      'No {of} server is listed yet. Add one in two minutes: enter its address and verify that you own it.',
      { of },
    );
    return emptyState(site, html`<p>${text}</p>`, html`${addServer(site.base, t('Add a server'))}${all}`);
  }
  const late = online
    ? html`<p class="small">${t('The filter “online” is updated every {minutes} minutes.', {
        minutes: RANKS_EVERY_MINUTES,
      })}</p>`
    : '';
  const text = t('No server matches all of these filters. Remove a filter, or see all servers.');
  return emptyState(site, html`<p>${text}</p>${late}`, all);
}

export function nothingListed(site: Site): Html {
  const text = t(
    'No servers are listed yet. Add one in two minutes: enter its address and verify that you own it.',
  );
  return emptyState(site, html`<p>${text}</p>`, addServer(site.base, t('Add the first server')));
}

function addServer(base: string, text: string): Html {
  return html`<a class="button" href="${base}/dashboard/servers/new">${text}</a>`;
}

/** The sections “Other tags” and “Servers by tag” have at most this many links. */
const MOST_TAG_LINKS = 24;

/** The servers of a game or tag that were listed recently. */
export function newcomers(base: string, rows: ListedRow[]): Content {
  if (rows.length === 0) return '';
  const cards = rows.map((row) =>
    miniServer(base, row, [row.game && gameName(row.game), html`${t('Listed')} ${day(row.listedAt)}`]),
  );
  return html`<section class="more"><h2>${t('New this month')}</h2><ul class="minis">${cards}</ul></section>`;
}

/**
 * For a game: links to its lists by tag and by country. For a tag: links to its lists by game, and to other tags. For
 * all servers: links to tags. Empty lists are left out.
 */
export function relatedLists(
  base: string,
  query: RankingQuery,
  summary: ListingSummary,
  tags: Tag[],
): Content {
  const { game, tag } = query.filters;
  const to = (more: Filters) =>
    `${base}${rankingPath({ q: '', sort: 'rank', page: 1, filters: { game, tag, ...more } })}`;
  const nameOf = (key: string) => tags.find((one) => one.key === key)?.name;
  if (tag) {
    const others = (summary.tags ?? []).filter(({ value }) => value !== tag).slice(0, MOST_TAG_LINKS);
    const name = query.tagName ?? tag;
    return html`${links(
      t('{tag} servers by game', { tag: name }),
      summary.tagGames?.[tag],
      gameName,
      (value) => to({ game: value }),
    )}${links(t('Other tags'), others, nameOf, (value) => `${base}${tagPath(value)}`)}`;
  }
  if (!game) return tagLinks(base, summary, tags);
  const of = gameName(game);
  return html`${links(t('Tags of {game} servers', { game: of }), summary.gameTags?.[game], nameOf, (value) =>
    to({ tag: value }),
  )}${links(
    t('{game} servers by country', { game: of }),
    summary.gameCountries?.[game],
    countryName,
    (value) => to({ country: value }),
  )}`;
}

/** Links to the pages of the tags with the most servers, and to all tags. */
function tagLinks(base: string, { tags: choices = [] }: ListingSummary, tags: Tag[]): Content {
  const nameOf = (key: string) => tags.find((one) => one.key === key)?.name;
  const all = html`<li><a href="${base}/tags">${t('All tags')}</a></li>`;
  const shown = choices.slice(0, MOST_TAG_LINKS);
  return links(t('Servers by tag'), shown, nameOf, (value) => `${base}${tagPath(value)}`, all);
}

/** A section with links to lists, each with the number of its servers. Values without a name are left out. */
function links(
  title: string,
  choices: Choice[] | undefined,
  nameOf: (value: string) => string | undefined,
  pathOf: (value: string) => string,
  last: Content = '',
): Content {
  const named = (choices ?? []).flatMap(({ value, servers }) => {
    const name = nameOf(value);
    return name ? [{ name, servers, path: pathOf(value) }] : [];
  });
  if (named.length === 0) return '';
  return html`<section class="more"><h2>${title}</h2><ul class="list-links">${named.map(link)}${last}</ul></section>`;
}

function link({ name, servers, path }: { name: string; servers: number; path: string }): Html {
  const words = html`<span class="for-readers">${counted(servers, 'server')}</span>`;
  return html`<li><a href="${path}">${name} <span aria-hidden="true">${count(servers)}</span>${words}</a></li>`;
}
