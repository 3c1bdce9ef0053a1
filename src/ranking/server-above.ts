import type { WithId } from 'mongodb';
import type { Server } from '../servers/server.ts';
import { listedRows, type Rows } from './listed-rows.ts';
import { type Lists, rankedIds } from './read-lists.ts';

/** The server one rank above another, and how many votes it is ahead. */
export type ServerAbove = { name: string; slug: string; votesAhead: number };

/**
 * The server one rank above, and by how many votes it is ahead, counted as the ranking weighs votes. The figures are
 * those of the last ranking. Makes three queries by id.
 *
 * @returns null for the first rank, for a server that was not ranked yet, and if both servers have equally many votes
 */
export async function serverAbove(
  deps: Rows & Lists,
  { rankPosition, ranked }: Pick<WithId<Server>, 'rankPosition' | 'ranked'>,
): Promise<ServerAbove | null> {
  if (!ranked || rankPosition <= 1) return null;
  const [id] = await rankedIds(deps, [rankPosition - 1]);
  const [above] = id ? await listedRows(deps, [id]) : [];
  if (!above) return null;
  const votesAhead = Math.ceil(above.rankVotes - (ranked.rankVotes ?? ranked.votesCount));
  return votesAhead > 0 ? { name: above.name, slug: above.slug, votesAhead } : null;
}
