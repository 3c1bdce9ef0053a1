import { t } from '../../language/t.ts';
import type { ListingSummary } from '../../ranking/ranked-list.ts';
import { searchedAddress } from '../../ranking/searched-address.ts';
import type { Tag } from '../../servers/tag-list.ts';
import { RANKS_EVERY_MINUTES } from '../../votes/ranking-period.ts';
import type { Site } from '../shared/decorate-site.ts';
import { emptyState } from '../shared/empty-card.ts';
import { count } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { isNarrowed } from './list-texts.ts';
import { rankingFilterForm, sortTabs } from './ranking-filters.ts';
import { type RankingQuery, randomPath, rankingPath } from './ranking-query.ts';
import { viewSwitch } from './server-list.ts';

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
