import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { SECOND } from '../../platform/clock.ts';
import { remembered } from '../../platform/deadline.ts';
import type { Filters } from '../../ranking/filters.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import type { Choices } from '../../ranking/ranked-list.ts';
import { listingSummary, ROWS, rankingPage } from '../../ranking/read-lists.ts';
import { readTags } from '../../servers/tag-list.ts';
import { PageError } from '../error-pages.ts';
import type { Content } from '../html.ts';
import type { Listed, Page } from '../layout.ts';
import { PUBLIC } from '../page-route.ts';
import { sendPublicPage } from '../public-page.ts';
import { count, counted } from '../words.ts';
import { limitedSearch } from './limited-search.ts';
import type { ListingSources } from './listing-sources.ts';
import { activeFilters, filterForm, headingOf } from './ranking-filters.ts';
import { hasEmptyFields, type RankingQuery, rankingPath, rankingQuery } from './ranking-query.ts';
import { rankingTable } from './ranking-table.ts';

/** How long the filter choices are cached. They change with each ranking, every ten minutes. */
const SUMMARY_TTL_MS = 5 * SECOND;

/** `/`: the ranking, filtered or searched. */
export function ranking(app: FastifyInstance, { platform }: ListingSources): void {
  const { base, name } = app.site;
  const summaryNow = remembered(SUMMARY_TTL_MS, () => listingSummary(platform));
  const tagsNow = remembered(SUMMARY_TTL_MS, () => readTags(platform));

  app.get('/', PUBLIC, async (request, reply) => {
    const query = rankingQuery(request);
    const path = rankingPath(query);
    if (hasEmptyFields(request)) return reply.redirect(`${base}${path}`, 303);
    return sendPublicPage(request, reply, path, async () => {
      const summary = await summaryNow();
      return query.q ? searched(request, query, summary) : ranked(query, summary);
    });
  });

  async function ranked(query: RankingQuery, summary: Choices): Promise<Page> {
    const { filters, page } = query;
    const found = await rankingPage(platform, filters, page);
    if (!found) throw new PageError(404, 'This page of the ranking does not exist.');
    const { rows, total, pages } = found;
    const heading = headingOf(filters);
    const narrowed = isNarrowed(filters);
    const to = (other: number) => rankingPath({ ...query, page: other });
    const [previous, next] = [page > 1 ? to(page - 1) : undefined, page < pages ? to(page + 1) : undefined];
    const of = page > 1 ? `, page ${count(page)}` : '';
    const description = `${counted(total, 'server')}${narrowed ? '' : ` on ${name}`}, ranked by votes in 30 days, with players and status.`;
    const listed: Listed = { canonical: to(page), description, previous, next };
    return {
      title: `${heading}${of}`,
      ...(isWorthListing(query) ? { listed } : {}),
      body: html`${head(heading, html`${listSummary(query, total, summary)} <a href="${base}/how-ranking-works">How the ranking works</a>`)}
        ${total > 0 || narrowed ? filterForm(base, query, summary) : ''} ${activeFilters(base, query)}
        ${rankingTable(base, heading, rows, narrowed ? noMatches(base, filters) : nothingListed(base), await tagsNow())}
        ${pages > 1 ? pageLinks(base, { page, pages, previous, next, first: to(1), last: to(pages) }) : ''}`,
    };
  }

  async function searched(request: FastifyRequest, query: RankingQuery, summary: Choices): Promise<Page> {
    const rows = await limitedSearch(platform, request, query.q, query.filters);
    return {
      title: `Search: ${query.q}`,
      body: html`${head('Search', found(rows, query))}
        ${filterForm(base, query, summary)} ${activeFilters(base, query)}
        ${rankingTable(base, 'Servers found', rows, nothingFound(base, query), await tagsNow())}`,
    };
  }
}

function isNarrowed(filters: Filters): boolean {
  return Object.values(filters).some(Boolean);
}

/** Pages for search engines: the ranking, and the lists of one game, country or version. */
function isWorthListing({ filters: { game, country, version, online } }: RankingQuery): boolean {
  return !online && [game, country, version].filter(Boolean).length <= 1;
}

function head(heading: string, detail: Content) {
  return html`<div class="page-head"><div><h1>${heading}</h1><p class="soft">${detail}</p></div></div>`;
}

/** The size of the list and its order. */
function listSummary({ filters }: RankingQuery, total: number, { servers, online }: Choices): Content {
  if (isNarrowed(filters)) {
    const age = filters.online
      ? ' The filter «online» uses data up to ten minutes old; the status shown is current.'
      : '';
    return `${counted(total, 'server')}, ranked by votes in 30 days.${age}`;
  }
  if (total === 0) return '';
  // The totals may be slightly older than the list.
  const among = servers > 0 ? `, ${count(online)} online` : '';
  return `${counted(total, 'server')}${among}, ranked by votes in 30 days.`;
}

function found(rows: ListedRow[], { q, filters }: RankingQuery): Content {
  const named = html`“<bdi>${q}</bdi>”`;
  if (rows.length === 0) {
    const among = isNarrowed(filters) ? ' and matches the filters' : '';
    return html`No server has a name like ${named}${among}.`;
  }
  const many = rows.length === ROWS ? `The ${ROWS} best matches` : counted(rows.length, 'server');
  const narrowed = isNarrowed(filters) ? ' Filters apply to the best matches only.' : '';
  return html`${many} with a name like ${named}, best matches first.${narrowed}`;
}

function nothingFound(base: string, { q, filters }: RankingQuery): Content {
  const everywhere = `${base}${rankingPath({ q, filters: {}, page: 1 })}`;
  return html`<p>Try a part of the name, such as its rarest word. One typo is allowed.</p>
    <p>${isNarrowed(filters) ? html`<a href="${everywhere}">Search all servers</a> · ` : ''}<a href="${base}/">Show the whole ranking</a></p>`;
}

function noMatches(base: string, { online }: Filters): Content {
  return html`<p>No server matches all of these filters. Remove a filter, or see <a href="${base}/">all servers</a>.</p>
    ${online ? html`<p class="small">The filter «online» is updated every ten minutes.</p>` : ''}`;
}

function nothingListed(base: string): Content {
  return html`<div class="spaced">
    <p>No servers are listed yet. Add one in two minutes: enter its address and verify that you own it.</p>
    <p><a class="button" href="${base}/dashboard/servers/new">Add the first server</a></p>
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
  return html`<nav class="pager" aria-label="Pages">
    <span>${previous ? html`<a href="${base}${previous}" rel="prev">← Higher ranks</a>` : ''}</span>
    <span class="soft">${page > 2 ? html`<a href="${base}${first}">1</a> … ` : ''}Page ${count(page)} of ${page < pages - 1 ? html`<a href="${base}${last}">${count(pages)}</a>` : count(pages)}</span>
    <span>${next ? html`<a href="${base}${next}" rel="next">Lower ranks →</a>` : ''}</span>
  </nav>`;
}
