import type { FastifyReply, FastifyRequest } from 'fastify';
import { t } from '../../language/t.ts';
import { MINUTE } from '../../platform/clock.ts';
import { byNetwork, takeAll } from '../../platform/limits/by-network.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { randomSlug } from '../../ranking/random-server.ts';
import { PageError } from '../error-pages.ts';
import { publicPath } from '../shared/server-paths.ts';
import { rankingPath, rankingQuery } from './ranking-query.ts';

/** How many random servers a network may request. The redirects are not cached, so each costs a query. */
const DRAWS = { times: 60, windowMs: MINUTE };

/**
 * Redirects to a random server that passes the filters of the request; if there is none, to the filtered list.
 *
 * @throws {PageError} 429, with the time of the next allowed draw
 */
export async function sendRandomServer(
  deps: AppDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { base } = request.server.site;
  reply.header('cache-control', 'no-store');
  const nextAt = await takeAll(deps, byNetwork('random:address', request.ip, DRAWS));
  if (nextAt) throw new PageError(429, t('Too many random servers from your network address.'), nextAt);
  const { filters } = rankingQuery(request);
  const slug = await randomSlug(deps, filters);
  const path = slug ? publicPath({ slug }) : rankingPath({ q: '', filters, sort: 'rank', page: 1 });
  return reply.redirect(`${base}${path}`, 303);
}
