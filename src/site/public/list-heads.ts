import { plural } from '../../language/plural.ts';
import { t } from '../../language/t.ts';
import type { Choice, ListingSummary } from '../../ranking/ranked-list.ts';
import type { Tag } from '../../servers/tag-list.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import type { Site } from '../shared/decorate-site.ts';
import { count } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { gamePicture } from '../shared/game-pictures.ts';
import { pixelPicture } from '../shared/generated-pictures.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { searchForm } from './ranking-filters.ts';
import { gamePath, type RankingQuery, tagPath } from './ranking-query.ts';

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
