import type { FastifyRequest } from 'fastify';
import { t } from '../../language/t.ts';
import { MINUTE } from '../../platform/clock.ts';
import { byNetwork, takeAll } from '../../platform/limits/by-network.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import { searchListing } from '../../ranking/search-listing.ts';
import { PageError } from '../error-pages.ts';
import { refundPage } from '../limited-pages.ts';

/** The limit for a network address, because a search costs far more than a page of the ranking. */
const SEARCHES = { times: 60, windowMs: MINUTE };

/**
 * Counts a search before its page is made. Each network address has a limit, which counts over all web processes.
 * A search counts here only and not as a page (`limitPages`), so searches never close other pages, such as that of a
 * vote. Results from the cache do not count.
 *
 * @throws {PageError} 429, with the time of the next allowed search
 */
export async function limitSearches(deps: AppDeps, { ip }: FastifyRequest): Promise<void> {
  const nextAt = await takeAll(deps, byNetwork('search:address', ip, SEARCHES));
  if (nextAt) throw new PageError(429, t('Too many searches from your network address.'), nextAt);
}

/**
 * Searches servers for a page that was counted already. If the search is refused, the page is not counted.
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
