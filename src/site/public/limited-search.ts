import type { FastifyRequest } from 'fastify';
import { defineMessage } from '../../language/t.ts';
import { MINUTE } from '../../platform/clock.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import { searchListing } from '../../ranking/search-listing.ts';
import { refundPage } from '../limited-pages.ts';
import { throwIfUsedUp } from '../shared/used-up.ts';

/** A search costs far more than a page of the ranking. */
const SEARCHES = defineLimit({
  key: 'search:address',
  what: 'Searches',
  of: 'network',
  times: 60,
  windowMs: MINUTE,
  sentence: defineMessage('Too many searches from your network address.'),
});

/**
 * Counts a search before its page is made, for all web processes together. A search does not count as a page
 * (`limitPages`): if searches are refused, the network can still open other pages, such as the vote page.
 *
 * @throws {PageError} 429, with the time of the next allowed search
 */
export async function limitSearches(deps: AppDeps, { ip }: FastifyRequest): Promise<void> {
  await throwIfUsedUp(deps, SEARCHES, ip);
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
