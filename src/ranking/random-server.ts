import type { RankingDeps } from './deps.ts';
import { type Filters, listKey } from './filters.ts';
import { RANKED } from './ranking-pipeline.ts';
import { idsOf } from './read-lists.ts';
import { partId } from './replace-lists.ts';
import { PART } from './write-lists.ts';

/** If a drawn server was hidden or removed since the ranking: another one is drawn, up to this many in all. */
const MOST_DRAWS = 5;

/**
 * The slug of a random online server that passes the filters. If there is none: the slug of any server that passes,
 * unless the filters ask for online ones. Null when there is none either. Usually makes two or three queries by id.
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
    const server = _id && (await servers.findOne({ _id, ...RANKED }, { projection: { slug: 1 } }));
    if (server) return server.slug;
  }
  return null;
}

function randomIndexes(total: number): Set<number> {
  const indexes = new Set<number>();
  while (indexes.size < Math.min(MOST_DRAWS, total)) indexes.add(Math.floor(Math.random() * total));
  return indexes;
}
