import type { FastifyRequest } from 'fastify';
import { defineMessage } from '../../language/t.ts';
import { MINUTE } from '../../platform/clock.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
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
 * Counts a search for all web processes together. It does not count as a page (`limitPages`): if searches are refused,
 * the network can still open other pages, such as the vote page.
 */
export async function limitSearches(deps: AppDeps, { ip }: FastifyRequest): Promise<void> {
  await throwIfUsedUp(deps, SEARCHES, ip);
}

/** For a page that `limitPages` has counted already: if the search is refused, takes this count back. */
export async function limitedSearch(deps: AppDeps, request: FastifyRequest, typed: string) {
  try {
    await limitSearches(deps, request);
  } catch (error) {
    await refundPage(deps, request);
    throw error;
  }
  return searchListing(deps, typed);
}
