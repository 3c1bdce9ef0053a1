import { ObjectId } from 'mongodb';
import type { RankingDeps } from './deps.ts';
import { type Filters, listKey, NO_GAME_LIST } from './filters.ts';
import { type ListedRow, listedRows } from './listed-rows.ts';
import { type ListingSummary, type RankedList, SUMMARY } from './ranked-list.ts';
import { RANKED } from './ranking-pipeline.ts';
import { partId } from './replace-lists.ts';
import type { Sort } from './sorts.ts';
import { PART } from './write-lists.ts';

export const ROWS = 20;

export type ListPage = {
  rows: ListedRow[];
  /** How many servers the last ranking had. */
  total: number;
  /** At least 1. */
  pages: number;
};

/**
 * Takes three queries by id, however long the list is. `page`: from 1. Null when there is no such page; page 1 always
 * exists.
 */
export async function readListPage(
  deps: RankingDeps,
  filters: Filters,
  page: number,
  sort: Sort = 'rank',
): Promise<ListPage | null> {
  const from = (page - 1) * ROWS;
  const _id = partId(listKey(filters, sort), Math.floor(from / PART));
  const part = await deps.rankedLists.findOne({ _id });
  if (!part) return page === 1 ? { rows: [], total: 0, pages: 1 } : null;
  const pages = Math.max(1, Math.ceil(part.total / ROWS));
  if (page > pages) return null;
  const ids = idsOf(part).slice(from % PART, (from % PART) + ROWS);
  return { rows: await listedRows(deps, ids), total: part.total, pages };
}

/** Servers that are no newcomers any more, and paused ones, are left out. */
export async function readNewcomers(deps: RankingDeps, filters: Filters, most: number): Promise<ListedRow[]> {
  const newest = await deps.rankedLists.findOne({ _id: partId(listKey(filters, 'newest'), 0) });
  const rows = newest ? await listedRows(deps, idsOf(newest).slice(0, most)) : [];
  return rows.filter(({ isNewcomer, listingPause }) => isNewcomer && !listingPause);
}

export function idsOf({ ids }: RankedList): ObjectId[] {
  const bytes = ids.value();
  return Array.from({ length: Math.floor(bytes.length / 12) }, (_, i) => {
    return new ObjectId(bytes.subarray(12 * i, 12 * i + 12));
  });
}

/** By rank (from 1) in the last ranking; null where there is none. */
export async function rankedIds({ rankedLists }: RankingDeps, ranks: number[]): Promise<(ObjectId | null)[]> {
  const partOf = (rank: number) => partId(listKey({}), Math.floor((rank - 1) / PART));
  const parts = await rankedLists.find({ _id: { $in: [...new Set(ranks.map(partOf))] } }).toArray();
  return ranks.map((rank) => {
    const part = parts.find(({ _id }) => _id === partOf(rank));
    return (rank > 0 && part && idsOf(part)[(rank - 1) % PART]) || null;
  });
}

const NOTHING: ListingSummary = {
  servers: 0,
  online: 0,
  games: [],
  countries: [],
  versions: [],
};

export async function readListingSummary(deps: RankingDeps): Promise<ListingSummary> {
  return (await deps.listingSummary.findOne({ _id: SUMMARY })) ?? NOTHING;
}

export type Addressed = { slug: string; changedAt?: Date | null };

/**
 * For the sitemap: a slice of a game's list (null: the servers without a game), sorted by slug. Makes two queries by
 * id. `skip` and `limit` must be multiples of `PART`.
 */
export async function addressesOf(
  { servers, rankedLists }: RankingDeps,
  game: string | null,
  { skip, limit }: { skip: number; limit: number },
): Promise<Addressed[]> {
  const key = game === null ? NO_GAME_LIST : listKey({ game });
  const parts = Array.from({ length: Math.ceil(limit / PART) }, (_, i) => {
    return partId(key, Math.floor(skip / PART) + i);
  });
  const lists = await rankedLists.find({ _id: { $in: parts } }).toArray();
  const projection = { _id: 0, slug: 1, changedAt: 1 };
  const found = await servers
    .find<Addressed>({ _id: { $in: lists.flatMap(idsOf) }, ...RANKED }, { projection })
    .toArray();
  return found.toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
}
