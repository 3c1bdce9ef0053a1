import type { FastifyRequest } from 'fastify';
import { t } from '../../language/t.ts';
import { MINUTE } from '../../platform/clock.ts';
import { byNetwork, takeAll } from '../../platform/limits/by-network.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Filters } from '../../ranking/filters.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import { searchListing } from '../../ranking/search-listing.ts';
import { PageError } from '../error-pages.ts';

/** The limit for a network address, because a search costs far more than a page of the ranking. */
const SEARCHES = { times: 60, windowMs: MINUTE };

/**
 * Searches servers. Each network address has a limit, which counts over all web processes. Results from the cache do
 * not count.
 *
 * @throws {PageError} 429, with the time of the next allowed search
 */
export async function limitedSearch(
  deps: AppDeps,
  { ip }: FastifyRequest,
  typed: string,
  filters: Filters = {},
): Promise<ListedRow[]> {
  const nextAt = await takeAll(deps, byNetwork('search:address', ip, SEARCHES));
  if (nextAt) throw new PageError(429, t('Too many searches from your network address.'), nextAt);
  return searchListing(deps, typed, filters);
}
