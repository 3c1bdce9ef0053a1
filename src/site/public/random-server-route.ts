import type { FastifyReply, FastifyRequest } from 'fastify';
import { defineMessage } from '../../language/t.ts';
import { MINUTE } from '../../platform/clock.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { randomSlug } from '../../ranking/picked-servers.ts';
import { publicPath } from '../shared/server-paths.ts';
import { throwIfUsedUp } from '../shared/used-up.ts';
import { rankingPath, rankingQuery } from './ranking-query.ts';

/** The redirects are not cached, so each costs a query. */
const DRAWS = defineLimit({
  key: 'random:address',
  what: 'Random servers',
  of: 'network',
  times: 60,
  windowMs: MINUTE,
  sentence: defineMessage('Too many random servers from your network address.'),
});

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
  await throwIfUsedUp(deps, DRAWS, request.ip);
  const { filters } = rankingQuery(request);
  const slug = await randomSlug(deps, filters);
  const path = slug ? publicPath({ slug }) : rankingPath({ q: '', filters, sort: 'rank', page: 1 });
  return reply.redirect(`${base}${path}`, 303);
}
