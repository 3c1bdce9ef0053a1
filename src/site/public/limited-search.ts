import type { FastifyRequest } from 'fastify';
import { t } from '../../language/t.ts';
import { MINUTE } from '../../platform/clock.ts';
import { byNetwork, takeAll } from '../../platform/limits/by-network.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import { searchListing } from '../../ranking/search-listing.ts';
import { PageError } from '../error-pages.ts';
import { refundPage } from '../limited-pages.ts';

/** How many searches a network may make. A search costs far more than a page of the ranking. */
const SEARCHES = { times: 60, windowMs: MINUTE };

/**
 * Counts a search before its page is made, for all web processes together. A search does not count as a page
 * (`limitPages`): if searches are refused, the network can still open other pages, such as the vote page.
 *
 * @throws {PageError} 429, with the time of the next allowed search
 */
export async function limitSearches(deps: AppDeps, { ip }: FastifyRequest): Promise<void> {
  const nextAt = await takeAll(deps, byNetwork('search:address', ip, SEARCHES));
  if (nextAt) throw new PageError(429, t('Too many searches from your network address.'), nextAt);
}

/**
 * Searches servers for a page that `limitPages` has counted already. If the search is refused, takes this count back.
 *
 * @throws {PageError} 429, with the time of the next allowed search
 */
export async function limitedSearch(
  deps: AppDeps,
  request: FastifyRequest,
  typed: string,
): Promise<ListedRow[]> {
  try {
    await limitSearches(deps, request);
  } catch (error) {
    await refundPage(deps, request);
    throw error;
  }
  return searchListing(deps, typed);
}
