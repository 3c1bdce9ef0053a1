import type { WithId } from 'mongodb';
import type { Server } from '../servers/server.ts';
import type { RankingDeps } from './deps.ts';
import { listedRows } from './listed-rows.ts';
import { rankedIds } from './read-lists.ts';

export type ServerAbove = { name: string; slug: string; votesAhead: number };

/**
 * The server one rank above, and its lead in votes, as they were weighed in the last ranking. Makes three queries by
 * id.
 *
 * @returns null for the first rank, for a server that is not ranked (new or hidden), if the server above was hidden or
 *   removed meanwhile, and if the votes of both weigh the same
 */
export async function serverAbove(
  deps: RankingDeps,
  { rankPosition, ranked }: Pick<WithId<Server>, 'rankPosition' | 'ranked'>,
): Promise<ServerAbove | null> {
  if (!ranked || rankPosition <= 1) return null;
  const [id] = await rankedIds(deps, [rankPosition - 1]);
  const [above] = id ? await listedRows(deps, [id]) : [];
  if (!above) return null;
  const votesAhead = Math.ceil(above.rankVotes - (ranked.rankVotes ?? ranked.votesCount));
  return votesAhead > 0 ? { name: above.name, slug: above.slug, votesAhead } : null;
}
