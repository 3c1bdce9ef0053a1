import { t } from '../../language/t.ts';
import type { Filters } from '../../ranking/filters.ts';
import type { PickedRows } from '../../ranking/list-picks.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import type { Choice, ListingSummary } from '../../ranking/ranked-list.ts';
import { searchedAddress } from '../../ranking/searched-address.ts';
import type { Tag } from '../../servers/tag-list.ts';
import { RANKING_DAYS, RANKS_EVERY_MINUTES } from '../../votes/ranking-period.ts';
import { countryName } from '../shared/country-names.ts';
import type { Site } from '../shared/decorate-site.ts';
import { emptyState } from '../shared/empty-card.ts';
import { queryText } from '../shared/form.ts';
import { count, counted, day, unit } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { gamePicture } from '../shared/game-pictures.ts';
import { pixelPicture } from '../shared/generated-pictures.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { miniServer } from '../shared/server-parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import { isNarrowed } from './list-texts.ts';
import type { Votable } from './other-servers.ts';
import { rankingFilterForm, searchForm, sortTabs } from './ranking-filters.ts';
import { gamePath, type RankingQuery, randomPath, rankingPath, tagPath } from './ranking-query.ts';
import { playersOf, viewSwitch } from './server-list.ts';

const GAME_TILES = 6;
const TILE_PIXELS = 48;

export function hero(site: Site, summary: ListingSummary): Html {
  const games = summary.games.slice(0, GAME_TILES);
  const tiles = gameTiles(site, games);
  const most = html`<section class="game-tiles" aria-label="${t('Most listed games')}">${tiles}</section>`;
  return html`<section class="hero" aria-labelledby="title"><div class="in">
      <h1 id="title">${t('Find a server worth coming back to.')}</h1>
      ${searchForm(site.base, { q: '', filters: {} })}
      ${summary.servers > 0 ? totals(summary) : ''}</div></section>
    ${games.length > 1 ? most : ''}`;
}

/** A summary that an older version stored has no players and votes. */
function totals({ servers, playing, votes }: ListingSummary): Html {
  const b = (text: Html) => html`<b>${text}</b>`;
  const playingNow = () => t('<b>{players}</b> playing now', { players: count(playing ?? 0), b });
  const cast = () =>
    t('<b>{votes}</b> votes in {days} days', { votes: count(votes ?? 0), days: RANKING_DAYS, b });
  return html`<p class="totals"><span><b>${count(servers)}</b> ${unit(servers, 'server')}</span>
    ${playing === undefined ? '' : html`<span>${playingNow()}</span>`}
    ${votes === undefined ? '' : html`<span class="wide-only">${cast()}</span>`}</p>`;
}

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
  return html`<ul>${shown.map(
    ({ path, picture, name, servers }) =>
      html`<li><a href="${path}">${picture}<b>${name}</b><span>${count(servers)}<span class="unit">
        ${unit(servers, 'server')}</span></span></a></li>`,
  )}</ul>`;
}

/** The head of a list that is not the home page. */
export function listHead(
  { base }: Site,
  query: Pick<RankingQuery, 'q' | 'filters'>,
  { heading, detail, picture = '' }: { heading: Content; detail: Content; picture?: Content },
): Html {
  return html`<section class="list-head"><div class="in">${picture ? html`<div class="picture">${picture}</div>` : ''}
    <div class="text"><h1>${heading}</h1><p>${detail}</p></div>${searchForm(base, query)}</div></section>`;
}

/** The order of search results cannot be changed. */
export function listBar(base: string, query: RankingQuery, summary: ListingSummary, tags: Tag[]): Html {
  const filters = rankingFilterForm(base, query, summary, tags);
  return html`<div class="list-bar">${query.q ? '' : sortTabs(base, query)}${filters}${viewSwitch()}</div>`;
}

export function listEnd(base: string, query: RankingQuery, pages: number, note: Content): Html {
  const random = html`<a class="button quiet" href="${base}${randomPath(query)}" rel="nofollow">${icon('shuffle')}${t(
    'Random server',
  )}</a>`;
  const howRanked = html`<a href="${base}/how-ranking-works">${t('How the ranking works')}</a>`;
  return html`<div class="list-end">${random}${pages > 1 ? pageLinks(base, query, pages) : ''}</div>
    <p class="soft small list-note">${note} ${howRanked}</p>`;
}

function pageLinks(base: string, query: RankingQuery, pages: number): Html {
  const { page } = query;
  const to = (other: number) => `${base}${rankingPath({ ...query, page: other })}`;
  const toFirst = page > 2 ? html`<a href="${to(1)}">1</a> … ` : '';
  const present = t('Page {page} of {pages}', {
    page: count(page),
    pages: page < pages - 1 ? html`<a href="${to(pages)}">${count(pages)}</a>` : count(pages),
  });
  const link = (other: number, relation: string, text: Content) =>
    html`<a class="button quiet" href="${to(other)}" rel="${relation}">${text}</a>`;
  return html`<nav class="page-links" aria-label="${t('Pages')}">
    ${page > 1 ? link(page - 1, 'prev', html`${icon('chevron-left')}${t('Previous page')}`) : ''}
    <span class="soft small">${toFirst}${present}</span>
    ${page < pages ? link(page + 1, 'next', html`${t('Next page')}${icon('chevron-right')}`) : ''}</nav>`;
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

/** The page of a game or tag offers to add a server; otherwise, filters can be removed. */
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

const MOST_TAG_LINKS = 24;

export function newcomers(base: string, rows: ListedRow[]): Content {
  const cards = rows.map((row) =>
    miniServer(base, row, [row.game && gameName(row.game), t('Listed {day}', { day: day(row.listedAt) })]),
  );
  return minis(t('New this month'), cards);
}

/** Below the home page's list. */
export function pickedServers(base: string, { rising, newcomers: latest }: PickedRows): Html {
  const places = (gained: number) =>
    html`<b class="risen">${icon('arrow-up')}${t('{places, plural, one {# place} other {# places}}', {
      places: gained,
    })}</b>`;
  const risen = rising.map((one) => miniServer(base, one.row, [places(one.places), playersOf(one.row)]));
  const joined = latest.map((row) => miniServer(base, row, [playersOf(row), gameName(row.game)]));
  return html`${minis(t('Rising this week'), risen)}${minis(t('New with players'), joined)}`;
}

function minis(title: string, cards: Html[]): Content {
  if (cards.length === 0) return '';
  return html`<section class="more"><h2>${title}</h2><ul class="minis">${cards}</ul></section>`;
}

/** `due`: favourites of a signed-in user. scripts/page.js adds the servers for which this browser can vote again. */
export function dueNow(base: string, due: Pick<Votable, 'server' | 'username'>[]): Html {
  const heading = html`<h2 id="due-now">${t('Due now')}</h2>`;
  const link = ({ server, username }: (typeof due)[number]) => {
    const path = publicPath(server, `/vote${queryText({ username: username ?? undefined })}`);
    return html`<li><a href="${base}${path}"><bdi>${server.name}</bdi></a></li>`;
  };
  return html`<section class="due-now" aria-labelledby="due-now">${heading}<ul>${due.map(link)}</ul></section>`;
}

/** For a game: its lists by tag and by country. For a tag: its lists by game, and other tags. Otherwise: tags. */
export function relatedLists(base: string, query: RankingQuery, summary: ListingSummary, tags: Tag[]) {
  const { game, tag } = query.filters;
  const to = (more: Filters) =>
    `${base}${rankingPath({ q: '', sort: 'rank', page: 1, filters: { game, tag, ...more } })}`;
  const nameOf = (key: string) => tags.find((one) => one.key === key)?.name;
  const ofTag = (key: string) => `${base}${tagPath(key)}`;
  if (tag) {
    const others = (summary.tags ?? []).filter(({ value }) => value !== tag).slice(0, MOST_TAG_LINKS);
    const name = query.tagName ?? tag;
    return html`${links(
      t('{tag} servers by game', { tag: name }),
      summary.tagGames?.[tag],
      gameName,
      (value) => to({ game: value }),
    )}${links(t('Other tags'), others, nameOf, ofTag)}`;
  }
  if (!game) {
    const all = html`<li><a href="${base}/tags">${t('All tags')}</a></li>`;
    return links(t('Servers by tag'), summary.tags?.slice(0, MOST_TAG_LINKS), nameOf, ofTag, all);
  }
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

/** Values without a name are left out. */
function links(
  title: string,
  choices: Choice[] | undefined,
  nameOf: (value: string) => string | undefined,
  pathOf: (value: string) => string,
  last: Content = '',
): Content {
  const items = (choices ?? []).flatMap(({ value, servers }) => {
    const name = nameOf(value);
    const words = html`<span class="for-readers">${counted(servers, 'server')}</span>`;
    const number = html`<span aria-hidden="true">${count(servers)}</span>${words}`;
    return name ? [html`<li><a href="${pathOf(value)}">${name} ${number}</a></li>`] : [];
  });
  if (items.length === 0) return '';
  return html`<section class="more"><h2>${title}</h2><ul class="list-links">${items}${last}</ul></section>`;
}
