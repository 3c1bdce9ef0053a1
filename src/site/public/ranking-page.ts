import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { favouriteIds } from '../../favourites/favourites.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { cachedFor } from '../../platform/batching/cached-for.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Filters } from '../../ranking/filters.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import type { ListingSummary } from '../../ranking/ranked-list.ts';
import { type ListPage, ROWS, readListingSummary, readListPage } from '../../ranking/read-lists.ts';
import { ENOUGH_REVIEWS, type Sort } from '../../ranking/sorts.ts';
import { readTags } from '../../servers/tag-list.ts';
import { RANKING_DAYS } from '../../votes/vote-figures.ts';
import { PageError } from '../error-pages.ts';
import { ANYONE, CACHED } from '../route-options.ts';
import { sendPublicPage } from '../send-public-page.ts';
import { count, counted } from '../shared/format.ts';
import { gameName, isGame } from '../shared/game-names.ts';
import { type Content, html } from '../shared/html.ts';
import type { Page, SearchMetadata } from '../shared/layout.ts';
import { linkTo } from '../shared/parts.ts';
import { limitedSearch } from './limited-search.ts';
import type { PublicParts } from './public-parts.ts';
import { activeFilters, filterForm, gameLinks, headingOf, sortLinks, tagLinks } from './ranking-filters.ts';
import { hasEmptyFields, type RankingQuery, rankingPath, rankingQuery } from './ranking-query.ts';
import { rankingTable } from './ranking-table.ts';
import { starForm } from './star.ts';

/** How long the choices of the filters are cached. They change only with a ranking, every ten minutes. */
const SUMMARY_TTL_MS = 5 * SECOND;

/** How long browsers may cache the redirect from an old address of a list. */
const REDIRECT_SECONDS = 60;

/**
 * `/`: the ranking, with filters or a search; `/games/<game>` and `/tags/<tag>`: the ranking of one game or tag. Their
 * other addresses redirect to these.
 */
export function rankingRoutes(app: FastifyInstance, { deps }: PublicParts): void {
  const { base } = app.site;
  const summaryNow = cachedFor(SUMMARY_TTL_MS, () => readListingSummary(deps));
  const tagsNow = cachedFor(SUMMARY_TTL_MS, () => readTags(deps));

  app.get('/', CACHED, send);
  app.get('/games/:game', CACHED, send);
  app.get('/tags/:tag', CACHED, send);
  for (const path of ['/games', '/games/', '/tags', '/tags/']) {
    app.get(path, ANYONE, (_request, reply) => reply.redirect(`${base}/`, 301));
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
    return sendPublicPage(request, reply, path, async () => {
      const summary = await summaryNow();
      return query.q ? searchPage(request, query, summary) : listPage(request, query, summary);
    });
  }

  /** The signed-in user's favourites; null for visitors, whose pages are cached. */
  const favouritesOf = async ({ signedIn }: FastifyRequest) =>
    signedIn ? favouriteIds(deps, signedIn.user._id) : null;

  async function listPage(
    request: FastifyRequest,
    query: RankingQuery,
    summary: ListingSummary,
  ): Promise<Page> {
    const { filters, page, sort } = query;
    const [list, favourites, tags] = await Promise.all([
      readListPage(deps, filters, page, sort),
      favouritesOf(request),
      tagsNow(),
    ]);
    if (!list) throw new PageError(404, t('This page of the ranking does not exist.'));
    const { rows, total, pages } = list;
    if (filters.game && total === 0 && !isGame(filters.game)) throw noSuchGame();
    const heading = headingOf(query);
    const narrowed = isNarrowed(filters);
    const to = (other: number) => rankingPath({ ...query, page: other });
    const [previous, next] = [page > 1 ? to(page - 1) : undefined, page < pages ? to(page + 1) : undefined];
    const description = describe(query, list, app.site.name);
    const howRanked = html`<a href="${base}/how-ranking-works">${t('How the ranking works')}</a>`;
    const metadata: SearchMetadata = { canonical: to(page), description, previous, next };
    return {
      title: page > 1 ? t('{heading}, page {page}', { heading, page: count(page) }) : heading,
      ...(isForSearchEngines(query) && (total > 0 || !narrowed) ? { metadata } : {}),
      body: html`${head(heading, html`${listSummary(query, total, summary)} ${howRanked}`)}
        ${total > 0 || narrowed ? filterForm(base, query, summary, tags) : ''} ${activeFilters(base, query)}
        ${total > 0 ? sortLinks(base, query) : ''} ${favourites ? starForm(`${base}${to(page)}`) : ''}
        ${rankingTable(base, heading, rows, {
          empty: narrowed ? noMatches(base, filters) : nothingListed(base),
          sort,
          favourites,
          tags,
        })}
        ${pages > 1 ? pageLinks(base, { page, pages, previous, next, first: to(1), last: to(pages) }) : ''}
        ${narrowed || page > 1 ? '' : html`${gameLinks(base, summary)}${tagLinks(base, tags)}`}`,
    };
  }

  async function searchPage(
    request: FastifyRequest,
    query: RankingQuery,
    summary: ListingSummary,
  ): Promise<Page> {
    const rows = await limitedSearch(deps, request, query.q, query.filters);
    const [favourites, tags] = await Promise.all([favouritesOf(request), tagsNow()]);
    return {
      title: t('Search: {words}', { words: query.q }),
      body: html`${head(t('Search'), searchSummary(rows, query))}
        ${filterForm(base, query, summary, tags)} ${activeFilters(base, query)}
        ${favourites ? starForm(`${base}${rankingPath(query)}`) : ''}
        ${rankingTable(base, t('Servers found'), rows, { empty: nothingFound(base, query), favourites, tags })}`,
    };
  }
}

function noSuchGame(): PageError {
  return new PageError(404, t('There is no game at this address.'));
}

/** The description for search engines, which show it below the title. */
function describe({ filters, sort, tagName }: RankingQuery, { rows, total }: ListPage, site: string): string {
  const of = [filters.game && gameName(filters.game), tagName].filter(Boolean).join(' ');
  const what = of
    ? t('{total, plural, one {# {of} server} other {# {of} servers}}', { total, of })
    : counted(total, 'server');
  const named = filters.game || filters.tag ? rows.slice(0, 3).map((row) => row.name) : [];
  const where = isNarrowed(filters) && !of ? what : t('{what} on {site}', { what, site });
  const sentence = t('{where}, {order}, with players and status', { where, order: orderText(sort) });
  if (named.length === 0) return `${sentence}.`;
  const names = named.join(', ');
  return `${sentence}: ${total > named.length ? t('{names} and more', { names }) : names}.`;
}

/** The order of the list as text. It follows the number of servers in a sentence. */
function orderText(sort: Sort): string {
  return ORDERS[sort]();
}

function isNarrowed(filters: Filters): boolean {
  return Object.values(filters).some(Boolean);
}

/** The texts for the orders. They follow the number of servers in a sentence. */
const ORDERS: Record<Sort, () => string> = {
  rank: () => t('ranked by votes in {days} days', { days: RANKING_DAYS }),
  players: () => t('with the most players first'),
  newest: () => t('newest first'),
  rating: () =>
    t('best rated first; servers with fewer than {reviews} reviews follow', { reviews: ENOUGH_REVIEWS }),
  uptime: () => t('with the highest uptime in 30 days first, by our own checks'),
};

/** Whether search engines may index the page: only the ranking, and the lists with one game, country or tag. */
function isForSearchEngines({
  sort,
  filters: { game, country, version, online, tag },
}: RankingQuery): boolean {
  return sort === 'rank' && !online && !version && !(game && (country || tag));
}

function head(heading: string, detail: Content) {
  return html`<div class="page-head"><div><h1>${heading}</h1><p class="soft">${detail}</p></div></div>`;
}

/** The number of servers in the list, and its order. */
function listSummary(
  { filters, sort }: RankingQuery,
  total: number,
  { servers, online }: ListingSummary,
): Content {
  const age = AGES[sort];
  const order = `${orderText(sort)}.${age ? ` ${t(age)}` : ''}`;
  if (isNarrowed(filters)) {
    const age = filters.online
      ? ` ${t('The filter “online” uses data up to ten minutes old; the status shown is current.')}`
      : '';
    return `${counted(total, 'server')}, ${order}${age}`;
  }
  if (total === 0) return '';
  // The totals may be computed a little earlier than the list.
  const among = servers > 0 ? `, ${t('{online} online', { online: count(online) })}` : '';
  return `${counted(total, 'server')}${among}, ${order}`;
}

/** A remark for orders that are older than the figures on the page. */
const AGES: Partial<Record<Sort, Text>> = {
  players: defineMessage('The order is up to ten minutes old; the numbers are current.'),
};

/** The result of a search as a sentence: how many servers it found. */
function searchSummary(rows: ListedRow[], { q, filters }: RankingQuery): Content {
  const named = t('“<bdi>{words}</bdi>”', { words: q });
  if (rows.length === 0) {
    return isNarrowed(filters)
      ? t('No server has a name, text or address like {named} and matches the filters.', { named })
      : t('No server has a name, text or address like {named}.', { named });
  }
  const many =
    rows.length === ROWS ? t('The {rows} best matches', { rows: ROWS }) : counted(rows.length, 'server');
  const narrowed = isNarrowed(filters) ? ` ${t('Filters apply to the best matches only.')}` : '';
  const matches = t('{many} with a name, text or address like {named}, best matches first.', { many, named });
  return html`${matches}${narrowed}`;
}

function nothingFound(base: string, { q, filters }: RankingQuery): Content {
  const everywhere = `${base}${rankingPath({ q, filters: {}, sort: 'rank', page: 1 })}`;
  const search = isNarrowed(filters) ? html`<a href="${everywhere}">${t('Search all servers')}</a> · ` : '';
  return html`<p>${t('Try a part of it, such as its rarest word. One typo is allowed.')}</p>
    <p>${search}<a href="${base}/">${t('Show the whole ranking')}</a></p>`;
}

function noMatches(base: string, { online }: Filters): Content {
  const advice = t('No server matches all of these filters. Remove a filter, or see <a>all servers</a>.', {
    a: linkTo(`${base}/`),
  });
  return html`<p>${advice}</p>
    ${online ? html`<p class="small">${t('The filter “online” is updated every ten minutes.')}</p>` : ''}`;
}

function nothingListed(base: string): Content {
  return html`<div class="spaced">
    <p>${t('No servers are listed yet. Add one in two minutes: enter its address and verify that you own it.')}</p>
    <p><a class="button" href="${base}/dashboard/servers/new">${t('Add the first server')}</a></p>
  </div>`;
}

type Pages = {
  page: number;
  pages: number;
  first: string;
  last: string;
  previous: string | undefined;
  next: string | undefined;
};

function pageLinks(base: string, { page, pages, first, last, previous, next }: Pages): Content {
  const toFirst = page > 2 ? html`<a href="${base}${first}">1</a> … ` : '';
  const present = t('Page {page} of {pages}', {
    page: count(page),
    pages: page < pages - 1 ? html`<a href="${base}${last}">${count(pages)}</a>` : count(pages),
  });
  return html`<nav class="pager" aria-label="${t('Pages')}">
    <span>${previous ? html`<a href="${base}${previous}" rel="prev">${t('← Higher ranks')}</a>` : ''}</span>
    <span class="soft">${toFirst}${present}</span>
    <span>${next ? html`<a href="${base}${next}" rel="next">${t('Lower ranks →')}</a>` : ''}</span>
  </nav>`;
}
