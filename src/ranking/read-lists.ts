import { type Collection, ObjectId } from 'mongodb';
import { type Filters, listKey } from './filters.ts';
import { type ListedRow, listedRows, type Rows } from './listed-rows.ts';
import { type Choices, type ListingSummary, type RankedList, SUMMARY } from './ranked-list.ts';
import { RANKED } from './ranking-pipeline.ts';
import { partId } from './replace-lists.ts';
import { PART } from './write-lists.ts';

/** Servers on a page. */
export const ROWS = 20;

type Lists = { rankedLists: Collection<RankedList> };

/** A page of the ranking. */
type RankingPage = {
  rows: ListedRow[];
  /** The number of servers that passed the filters in the last ranking. */
  total: number;
  /** At least 1. */
  pages: number;
};

/**
 * A page of the servers that pass the filters, in the order of their rank. It takes two queries by id for any page of any
 * listing.
 *
 * @param page - from 1
 * @returns null when there is no such page; page 1 always exists
 */
export async function rankingPage(
  deps: Rows & Lists,
  filters: Filters,
  page: number,
): Promise<RankingPage | null> {
  const from = (page - 1) * ROWS;
  const _id = partId(listKey(filters), Math.floor(from / PART));
  const part = await deps.rankedLists.findOne({ _id });
  if (!part) return page === 1 ? { rows: [], total: 0, pages: 1 } : null;
  const pages = Math.max(1, Math.ceil(part.total / ROWS));
  if (page > pages) return null;
  const ids = idsOf(part).slice(from % PART, (from % PART) + ROWS);
  return { rows: await listedRows(deps, ids), total: part.total, pages };
}

/** The ids of the servers of one part, in order. */
export function idsOf({ ids }: RankedList): ObjectId[] {
  const bytes = ids.value();
  return Array.from({ length: Math.floor(bytes.length / 12) }, (_, i) => {
    return new ObjectId(bytes.subarray(12 * i, 12 * i + 12));
  });
}

/** The ids of the servers at these ranks (from 1) in the last ranking; null where there is none. */
export async function rankedIds({ rankedLists }: Lists, places: number[]): Promise<(ObjectId | null)[]> {
  const partOf = (place: number) => partId(listKey({}), Math.floor((place - 1) / PART));
  const parts = await rankedLists.find({ _id: { $in: [...new Set(places.map(partOf))] } }).toArray();
  return places.map((place) => {
    const part = parts.find(({ _id }) => _id === partOf(place));
    return (place > 0 && part && idsOf(part)[(place - 1) % PART]) || null;
  });
}

const NOTHING: Choices = {
  servers: 0,
  online: 0,
  games: [],
  countries: [],
  versions: [],
};

/** The values to filter by in the last ranking. */
export async function listingSummary(deps: { listingSummary: Collection<ListingSummary> }): Promise<Choices> {
  return (await deps.listingSummary.findOne({ _id: SUMMARY })) ?? NOTHING;
}

/** The slugs of the servers from a rank on, for lists of the whole ranking. Two queries by id. */
export async function listedSlugs(
  { servers, rankedLists }: Pick<Rows, 'servers'> & Lists,
  { skip, limit }: { skip: number; limit: number },
): Promise<string[]> {
  const parts = Array.from({ length: Math.ceil(limit / PART) }, (_, i) => {
    return partId(listKey({}), Math.floor(skip / PART) + i);
  });
  const lists = await rankedLists.find({ _id: { $in: parts } }).toArray();
  const slugs = servers.find({ _id: { $in: lists.flatMap(idsOf) }, ...RANKED }, { projection: { slug: 1 } });
  return (await slugs.map(({ slug }) => slug).toArray()).toSorted();
}
