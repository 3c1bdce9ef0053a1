import type { Collection, ObjectId, WithId } from 'mongodb';
import { FILTERED, type Filtered, type Filters, passes } from './filters.ts';
import { type ListedRow, listedRows, type Rows } from './listed-rows.ts';
import { foldName, LIKELY, likeness, nameTerms, termKey, termWeight } from './name-terms.ts';
import type { RankedList } from './ranked-list.ts';
import { RANKED } from './ranking-pipeline.ts';
import { idsOf, ROWS } from './read-lists.ts';
import { partId } from './replace-lists.ts';

/** The number of candidates, those with the most common terms, whose whole names are compared. */
const COMPARED = 500;

/** The most terms of a search text that are used. */
const MOST_TERMS = 150;

type Candidate = WithId<Filtered & { name: string; rankPosition: number }>;

/**
 * Servers whose names are similar to the search text, misspelt ones too, by similarity and then rank; at most one page.
 * Three queries: the lists of the terms, the names with the most common terms, the rows.
 *
 * The filters apply to these candidates. For a word that hundreds of names have, the candidates are the best ranked ones.
 */
export async function searchNames(
  deps: Rows & { rankedLists: Collection<RankedList> },
  typed: string,
  filters: Filters = {},
): Promise<ListedRow[]> {
  const folded = foldName(typed);
  const terms = nameTerms(folded).slice(0, MOST_TERMS);
  if (terms.length === 0) return [];
  const ids = terms.map((term) => partId(termKey(term), 0));
  const lists = await deps.rankedLists.find({ _id: { $in: ids } }).toArray();
  const candidates = mostShared(lists, COMPARED);
  if (candidates.length === 0) return [];
  const now = deps.clock.now();
  const servers = await deps.servers
    .find({ _id: { $in: candidates }, ...RANKED })
    .project<Candidate>({ name: 1, rankPosition: 1, ...FILTERED })
    .toArray();
  const likest = servers
    .filter((server) => passes(server, filters, now))
    .map(({ _id, name, rankPosition }) => ({ _id, rankPosition, like: likeness(folded, foldName(name)) }))
    .filter(({ like }) => like >= LIKELY)
    .toSorted((a, b) => b.like - a.like || a.rankPosition - b.rankPosition)
    .slice(0, ROWS);
  return listedRows(
    deps,
    likest.map(({ _id }) => _id),
  );
}

/** The servers that are in the most of these lists; a short list counts more than a long one. */
function mostShared(lists: RankedList[], most: number): ObjectId[] {
  const shared = new Map<string, { id: ObjectId; weight: number }>();
  for (const list of lists) {
    const weight = termWeight(list._id, list.total);
    for (const id of idsOf(list)) {
      const key = id.toHexString();
      const before = shared.get(key);
      if (before) before.weight += weight;
      else shared.set(key, { id, weight });
    }
  }
  return [...shared.values()]
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, most)
    .map(({ id }) => id);
}
