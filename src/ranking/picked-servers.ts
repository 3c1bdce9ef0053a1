import type { ObjectId, WithId } from 'mongodb';
import { NOT_PAUSED } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';
import type { RankingDeps } from './deps.ts';
import { type Filters, listKey } from './filters.ts';
import { listedRows } from './listed-rows.ts';
import { RANKED } from './ranking-pipeline.ts';
import { idsOf, rankedIds } from './read-lists.ts';
import { partId } from './replace-lists.ts';
import { PART } from './write-lists.ts';

export type ServerAbove = { name: string; slug: string; votesAhead: number };

/**
 * `votesAhead`: as the votes were weighed in the last ranking. Makes three queries by id. Null for the first rank, for
 * a server that is not ranked (new or hidden), if the server above was hidden or removed meanwhile, and if the votes of
 * both weigh the same.
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

type Compared = Pick<WithId<Server>, '_id' | 'game' | 'profile'>;

/**
 * Servers of the same game that were online in the last ranking: those with the most tags in common first, then the
 * best ranked ones. A server without a game is compared by its tags only. Of each list, only the first `PART` are
 * compared.
 */
export async function similarServers(deps: RankingDeps, server: Compared, most: number) {
  const keys = keysOf(server).map((key) => partId(key, 0));
  if (keys.length === 0) return [];
  const lists = await deps.rankedLists.find({ _id: { $in: keys } }).toArray();
  const own = server._id.toHexString();
  // That of the game comes first, if there is one: its order is that of the ranking, and decides between servers that
  // are in equally many lists.
  const inOrder = lists.toSorted((one, other) => other.total - one.total);
  const shared = new Map<string, { id: ObjectId; lists: number }>();
  for (const id of inOrder.flatMap(idsOf)) {
    const key = id.toHexString();
    if (key !== own) shared.set(key, { id, lists: (shared.get(key)?.lists ?? 0) + 1 });
  }
  const similar = [...shared.values()].toSorted((one, other) => other.lists - one.lists).slice(0, most);
  const ids = similar.map(({ id }) => id);
  return listedRows(deps, ids);
}

function keysOf({ game, profile }: Compared): string[] {
  const ofGame = { game: game ?? undefined, online: true };
  const tags = profile?.tags ?? [];
  return [...(game ? [listKey(ofGame)] : []), ...tags.map((tag) => listKey({ ...ofGame, tag }))];
}

/** So many servers are drawn if those before are paused, or were hidden or removed since the ranking. */
const MOST_DRAWS = 5;

/**
 * A random online server that passes the filters; if there is none, any that passes, unless the filters ask for online
 * ones. Usually makes two or three queries by id.
 */
export async function randomSlug(deps: RankingDeps, filters: Filters): Promise<string | null> {
  return (
    (await drawSlug(deps, { ...filters, online: true })) ?? (filters.online ? null : drawSlug(deps, filters))
  );
}

async function drawSlug({ servers, rankedLists }: RankingDeps, filters: Filters) {
  const key = listKey(filters);
  const first = await rankedLists.findOne({ _id: partId(key, 0) });
  if (!first || first.total === 0) return null;
  for (const index of randomIndexes(first.total)) {
    const part = Math.floor(index / PART);
    const list = part === 0 ? first : await rankedLists.findOne({ _id: partId(key, part) });
    const _id = list && idsOf(list)[index % PART];
    const server =
      _id && (await servers.findOne({ _id, ...RANKED, ...NOT_PAUSED }, { projection: { slug: 1 } }));
    if (server) return server.slug;
  }
  return null;
}

function randomIndexes(total: number): Set<number> {
  const indexes = new Set<number>();
  while (indexes.size < Math.min(MOST_DRAWS, total)) indexes.add(Math.floor(Math.random() * total));
  return indexes;
}
