import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { favouriteIds } from '../../favourites/favourites.ts';
import { t } from '../../language/t.ts';
import { cachedFor } from '../../platform/batching/cached-for.ts';
import { SECOND } from '../../platform/clock.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { readPicks } from '../../ranking/list-picks.ts';
import type { ListingSummary } from '../../ranking/ranked-list.ts';
import { readListingSummary, readListPage, readNewcomers } from '../../ranking/read-lists.ts';
import { searchListing } from '../../ranking/search-listing.ts';
import { readTags, type Tag } from '../../servers/tag-list.ts';
import { PageError } from '../error-pages.ts';
import { ANYONE, CACHED } from '../route-options.ts';
import { sendPublicPage } from '../send-public-page.ts';
import type { Site } from '../shared/decorate-site.ts';
import { count } from '../shared/format.ts';
import { isGame } from '../shared/game-names.ts';
import { type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import type { SearchMetadata } from '../shared/search-metadata.ts';
import { limitSearches } from './limited-search.ts';
import {
  dueNow,
  gameTiles,
  hero,
  listBar,
  listEnd,
  listHead,
  newcomers,
  noMatches,
  nothingFound,
  nothingListed,
  pickedServers,
  relatedLists,
  tagTiles,
} from './list-parts.ts';
import { aboutList, describe, isNarrowed, listSummary, noSuchGame, searchSummary } from './list-texts.ts';
import { dueFavourites } from './other-servers.ts';
import { activeFilters, headingOf } from './ranking-filters.ts';
import { hasEmptyFields, type RankingQuery, rankingPath, rankingQuery } from './ranking-query.ts';
import { serverList } from './server-list.ts';
import { starForm } from './star.ts';
import { searchDataOf } from './structured-data.ts';

/** The summary changes every ten minutes. */
const SUMMARY_TTL_MS = 5 * SECOND;

const REDIRECT_SECONDS = 60;

const NEWCOMERS = 3;

type Asked = { request: FastifyRequest; query: RankingQuery; summary: ListingSummary; tags: Tag[] };

/** The ranking, searches, and all games and tags. Other addresses of a list (`/?game=<game>`) redirect. */
export function rankingRoutes(app: FastifyInstance, deps: AppDeps): void {
  const { site } = app;
  const { base } = site;
  const summaryNow = cachedFor(SUMMARY_TTL_MS, () => readListingSummary(deps));
  const tagsNow = cachedFor(SUMMARY_TTL_MS, () => readTags(deps));

  app.get('/', CACHED, send);
  app.get('/games/:game', CACHED, send);
  app.get('/tags/:tag', CACHED, send);
  app.get('/games', CACHED, (request, reply) =>
    sendPublicPage(request, reply, '/games', async () => gamesPage(site, await summaryNow())),
  );
  app.get('/tags', CACHED, (request, reply) =>
    sendPublicPage(request, reply, '/tags', async () => tagsPage(site, await summaryNow(), await tagsNow())),
  );
  for (const path of ['/games', '/tags']) {
    app.get(`${path}/`, ANYONE, (_request, reply) => reply.redirect(`${base}${path}`, 301));
  }
  for (const path of ['/games/:game/', '/tags/:tag/']) {
    app.get(path, ANYONE, (request, reply) =>
      reply.redirect(`${base}${rankingPath(rankingQuery(request))}`, 301),
    );
  }

  async function send(request: FastifyRequest, reply: FastifyReply) {
    const tags = await tagsNow();
    const asked = rankingQuery(request);
    const tagName = tags.find(({ key }) => key === asked.filters.tag)?.name;
    const query: RankingQuery = tagName ? { ...asked, tagName } : asked;
    const path = rankingPath(query);
    if (hasEmptyFields(request)) return reply.redirect(`${base}${path}`, 303);
    const { game, tag } = request.params as { game?: string; tag?: string };
    if (game !== undefined && !query.filters.game) throw noSuchGame();
    if ((tag !== undefined || query.filters.tag) && !tagName)
      throw new PageError(404, t('There is no tag at this address.'));
    if (request.url.split('?')[0] !== `${base}${path.split('?')[0]}`) {
      const isPrivate = request.signedIn !== null || reply.hasHeader('set-cookie');
      reply.header('cache-control', isPrivate ? 'no-store' : `public, max-age=${REDIRECT_SECONDS}`);
      return reply.redirect(`${base}${path}`, 301);
    }
    const of = async () => ({ request, query, summary: await summaryNow(), tags });
    return query.q
      ? sendPublicPage(
          request,
          reply,
          path,
          async () => searchPage(await of()),
          () => limitSearches(deps, request),
        )
      : sendPublicPage(request, reply, path, async () => listPage(await of()));
  }

  const favouritesOf = async ({ signedIn }: FastifyRequest) =>
    signedIn ? favouriteIds(deps, signedIn.user._id) : new Set<string>();

  async function listPage({ request, query, summary, tags }: Asked): Promise<Page> {
    const { filters, page, sort } = query;
    const isWhole = isCollection(query);
    const isHome = isWhole && !isNarrowed(filters);
    const { signedIn } = request;
    const [list, favourites, latest, picks, due] = await Promise.all([
      readListPage(deps, filters, page, sort),
      favouritesOf(request),
      isWhole && !isHome ? readNewcomers(deps, filters, NEWCOMERS) : [],
      isHome ? readPicks(deps, summary) : null,
      // Pages of signed-in users are not cached.
      isHome && signedIn ? dueFavourites(deps, signedIn.user._id) : [],
    ]);
    if (!list) throw new PageError(404, t('This page of the ranking does not exist.'));
    const { rows, total, pages } = list;
    if (filters.game && total === 0 && !isGame(filters.game)) throw noSuchGame();
    const heading = headingOf(query);
    const narrowed = isNarrowed(filters);
    const to = (other: number) => rankingPath({ ...query, page: other });
    const metadata: SearchMetadata = {
      canonical: to(page),
      description: describe(query, list, site.name),
      previous: page > 1 ? to(page - 1) : undefined,
      next: page < pages ? to(page + 1) : undefined,
      ...searchDataOf(site, query, list),
    };
    const end = listEnd(base, query, pages, listSummary(query, total, summary));
    const hasPodium = page === 1 && sort === 'rank';
    const { clock, config } = deps;
    const settings = { base, config, now: clock.now(), tags, sort, favourites, hasPodium };
    const shown =
      total > 0
        ? html`${serverList(rows, settings)}${end}`
        : narrowed
          ? noMatches(site, query)
          : nothingListed(site);
    return {
      ...FULL,
      title: page > 1 ? t('{heading}, page {page}', { heading, page: count(page) }) : heading,
      ...(isForSearchEngines(query) && (total > 0 || !narrowed) ? { metadata } : {}),
      body: html`${isHome ? hero(site, summary) : listHead(site, query, { heading, ...aboutList(site, query, total) })}
        <section class="listing" aria-labelledby="list"><h2 id="list" class="for-readers">${t('Servers')}</h2>
        ${isHome && total > 0 ? dueNow(base, due) : ''}
        ${total > 0 || narrowed ? listBar(base, query, summary, tags) : ''}${isWhole ? '' : activeFilters(base, query)}
        ${starForm(`${base}${to(page)}`)}${shown}</section>
        ${picks ? pickedServers(base, picks) : ''}
        ${isWhole && total > 0 ? html`${newcomers(base, latest)}${relatedLists(base, query, summary, tags)}` : ''}`,
    };
  }

  async function searchPage({ request, query, summary, tags }: Asked): Promise<Page> {
    const rows = await searchListing(deps, query.q, query.filters);
    const favourites = await favouritesOf(request);
    const now = deps.clock.now();
    const heading = t('Search: “<bdi>{words}</bdi>”', { words: query.q });
    const options = { base, config: deps.config, now, tags, favourites };
    const found = rows.length > 0 ? serverList(rows, options) : nothingFound(site, query);
    return {
      ...FULL,
      title: t('Search: {words}', { words: query.q }),
      body: html`${listHead(site, query, { heading, detail: searchSummary(rows, query) })}
        <section class="listing" aria-labelledby="list"><h2 id="list" class="for-readers">${t('Servers found')}</h2>
        ${listBar(base, query, summary, tags)}${activeFilters(base, query)}
        ${starForm(`${base}${rankingPath(query)}`)}
        ${found}</section>`,
    };
  }
}

const FULL = { width: 'full', styles: ['public.css'] } satisfies Pick<Page, 'width' | 'styles'>;

/** The home page, or the first page of one game or tag. */
function isCollection({ q, page, sort, filters: { game, tag, ...others } }: RankingQuery): boolean {
  return !q && page === 1 && sort === 'rank' && !isNarrowed(others) && !(game && tag);
}

function isForSearchEngines({
  sort,
  filters: { game, country, version, online, tag },
}: RankingQuery): boolean {
  return sort === 'rank' && !online && !version && !(game && (country || tag));
}

function gamesPage(site: Site, { games }: ListingSummary): Page {
  const detail = t('All games with listed servers, those with the most first.');
  return tilesPage(site, '/games', {
    title: t('Games'),
    detail,
    tiles: games.length > 0 && gameTiles(site, games),
  });
}

function tagsPage(site: Site, { tags: choices = [] }: ListingSummary, tags: Tag[]): Page {
  const detail = t('What kind of server do you look for? Owners chose these tags for their servers.');
  const named = choices.flatMap(({ value, servers }) => {
    const tag = tags.find(({ key }) => key === value);
    return tag ? [{ ...tag, servers }] : [];
  });
  return tilesPage(site, '/tags', {
    title: t('Tags'),
    detail,
    tiles: named.length > 0 && tagTiles(site, named),
  });
}

function tilesPage(
  site: Site,
  canonical: string,
  { title, detail, tiles }: { title: string; detail: string; tiles: Html | false },
): Page {
  return {
    ...FULL,
    title,
    ...(tiles ? { metadata: { canonical, description: detail } } : {}),
    body: html`${listHead(site, { q: '', filters: {} }, { heading: title, detail })}
      <section class="game-tiles all" aria-label="${title}">${tiles || nothingListed(site)}</section>`,
  };
}
