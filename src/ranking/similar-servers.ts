import type { ObjectId, WithId } from 'mongodb';
import type { Server } from '../servers/server.ts';
import type { RankingDeps } from './deps.ts';
import { listKey } from './filters.ts';
import { type ListedRow, listedRows } from './listed-rows.ts';
import { idsOf } from './read-lists.ts';
import { partId } from './replace-lists.ts';

type Compared = Pick<WithId<Server>, '_id' | 'game' | 'profile'>;

/**
 * Servers of the same game that were online in the last ranking: those with the most tags in common first, then the
 * best ranked ones. A server without a game is compared by its tags only. Only the `PART` best ranked servers of each
 * list are compared. Makes three queries by id.
 *
 * @param most - the most rows. There may be fewer, for example if a server was hidden since the last ranking
 */
export async function similarServers(
  deps: RankingDeps,
  server: Compared,
  most: number,
): Promise<ListedRow[]> {
  const keys = keysOf(server).map((key) => partId(key, 0));
  if (keys.length === 0) return [];
  const lists = await deps.rankedLists.find({ _id: { $in: keys } }).toArray();
  const own = server._id.toHexString();
  // The longest list comes first: that of the game, if there is one. Its order is that of the ranking, and decides
  // between servers that are in equally many lists.
  const inOrder = lists.toSorted((one, other) => other.total - one.total);
  const shared = new Map<string, { id: ObjectId; lists: number }>();
  for (const id of inOrder.flatMap(idsOf)) {
    const key = id.toHexString();
    if (key !== own) shared.set(key, { id, lists: (shared.get(key)?.lists ?? 0) + 1 });
  }
  const similar = [...shared.values()].toSorted((one, other) => other.lists - one.lists).slice(0, most);
  return listedRows(
    deps,
    similar.map(({ id }) => id),
  );
}

function keysOf({ game, profile }: Compared): string[] {
  const ofGame = { game: game ?? undefined, online: true };
  const tags = profile?.tags ?? [];
  return [...(game ? [listKey(ofGame)] : []), ...tags.map((tag) => listKey({ ...ofGame, tag }))];
}
