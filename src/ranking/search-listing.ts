import type { Document, ObjectId, WithId } from 'mongodb';
import { pauseAt } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';
import type { RankingDeps } from './deps.ts';
import { FILTERED, type Filtered, type Filters, isListed, passes } from './filters.ts';
import { listedRows } from './listed-rows.ts';
import { foldName, LEAST_SIMILARITY, nameTerms, similarity, termKey, termWeight } from './name-terms.ts';
import type { RankedList } from './ranked-list.ts';
import { RANKED } from './ranking-pipeline.ts';
import { idsOf, ROWS } from './read-lists.ts';
import { partId } from './replace-lists.ts';
import { type SearchedAddress, searchedAddress } from './searched-address.ts';
import {
  LEAST_TEXT_SIMILARITY,
  SEARCHED,
  type Searched,
  textComparison,
  textKey,
  textsOf,
  textTerms,
  textWords,
  withoutPort,
} from './text-terms.ts';

/** Candidates by name: the servers that share the most terms with the search text. */
const COMPARED = 500;

const COMPARED_TEXTS = 250;

/** Servers at one host, those with the lowest ports first. */
const COMPARED_ADDRESSES = 250;

/** Terms of a search text, for names and for other texts. */
const MOST_TERMS = 150;

/** A word in another text counts a little less than the same word in a name, and more than most misspelt names. */
const OF_A_TEXT = 0.9;

type Candidate = WithId<Filtered & Searched & { name: string; rankPosition: number }>;

/**
 * At most one page: paused servers last, then by similarity, then by rank. If the search text is an address: the servers at this address or at
 * its host; if there are none and it is not certainly an address, it is searched like other texts. If hundreds of names
 * have a word, only the best ranked of these servers are candidates.
 */
export async function searchListing(deps: RankingDeps, typed: string, filters: Filters = {}) {
  return listedRows(deps, await searchIds(deps, typed, filters));
}

/** The ids of what `searchListing` finds, in the same order. */
export async function searchIds(
  deps: RankingDeps,
  typed: string,
  filters: Filters = {},
): Promise<ObjectId[]> {
  const address = searchedAddress(typed);
  if (!address) return searchByTerms(deps, typed, filters);
  const at = await searchByAddress(deps, address, filters);
  return at.length > 0 || address.isCertain ? at : searchByTerms(deps, typed, filters);
}

type AtAddress = WithId<Filtered & Pick<Server, 'port' | 'rankPosition'>>;

/** If there are none: those at the host with another port. At most one page, by rank. */
async function searchByAddress(deps: RankingDeps, { host, port }: SearchedAddress, filters: Filters) {
  const now = deps.clock.now();
  const at = (place?: number) => deps.servers.aggregate<AtAddress>(atAddress(host, place)).toArray();
  const exact = port === undefined ? [] : await at(port);
  const there = exact.length > 0 ? exact : await at();
  return onlyOnce(there)
    .filter((server) => isListed(server, deps.config, now) && passes(server, filters, now))
    .toSorted((a, b) => pausedLast(a, b, now) || a.rankPosition - b.rankPosition)
    .slice(0, ROWS)
    .map(({ _id }) => _id);
}

/** A server may have the host in both addresses. */
function onlyOnce(servers: AtAddress[]): AtAddress[] {
  return [...new Map(servers.map((server) => [server._id.toHexString(), server])).values()];
}

/** As a first or a second address. One query, of which each part reads a range of an index. */
function atAddress(host: string, port?: number): Document[] {
  const isThere = (address: string, ofPort: string) => ({
    [address]: host,
    ...(port === undefined ? {} : { [ofPort]: port }),
    ...RANKED,
  });
  const part = (address: string, ofPort: string) => [
    { $match: isThere(address, ofPort) },
    { $sort: { [ofPort]: 1 } },
    { $limit: COMPARED_ADDRESSES },
    { $project: { port: 1, rankPosition: 1, ...FILTERED } },
  ];
  const second = part('second.address', 'second.port');
  return [...part('address', 'port'), { $unionWith: { coll: 'servers', pipeline: second } }];
}

/** Four queries: the lists of the terms, the candidates, and two for the rows. */
async function searchByTerms(deps: RankingDeps, typed: string, filters: Filters): Promise<ObjectId[]> {
  const folded = foldName(typed);
  const ofTexts = textComparison(typed);
  const keys = [
    ...nameTerms(folded).slice(0, MOST_TERMS).map(termKey),
    ...textTerms(withoutPort(typed)).slice(0, MOST_TERMS).map(textKey),
  ];
  if (keys.length === 0) return [];
  const ids = keys.map((key) => partId(key, 0));
  const lists = await deps.rankedLists.find({ _id: { $in: ids } }).toArray();
  const [textLists, nameLists] = [lists.filter(isOfTexts), lists.filter((list) => !isOfTexts(list))];
  // A server may be in both; MongoDB finds it once.
  const candidates = [...mostShared(nameLists, COMPARED), ...mostShared(textLists, COMPARED_TEXTS)];
  if (candidates.length === 0) return [];
  const now = deps.clock.now();
  const servers = await deps.servers
    .find({ _id: { $in: candidates }, ...RANKED })
    .project<Candidate>({ name: 1, rankPosition: 1, ...FILTERED, ...SEARCHED })
    .toArray();
  return servers
    .filter((server) => isListed(server, deps.config, now) && passes(server, filters, now))
    .map((server) => ({ ...server, similarity: similarityOf(server, folded, ofTexts) }))
    .filter(({ similarity }) => similarity > 0)
    .toSorted(
      (a, b) => pausedLast(a, b, now) || b.similarity - a.similarity || a.rankPosition - b.rankPosition,
    )
    .slice(0, ROWS)
    .map(({ _id }) => _id);
}

function pausedLast(one: Filtered, other: Filtered, now: Date): number {
  return Number(pauseAt(one, now) !== null) - Number(pauseAt(other, now) !== null);
}

/** By name or by all words of the server; 0 if the server is not a result. */
function similarityOf({ name, ...server }: Candidate, folded: string, ofTexts: (words: string[]) => number) {
  const byName = similarity(folded, foldName(name));
  const byText = ofTexts(textWords(`${name} ${textsOf(server)}`));
  return Math.max(
    byName >= LEAST_SIMILARITY ? byName : 0,
    byText >= LEAST_TEXT_SIMILARITY ? OF_A_TEXT * byText : 0,
  );
}

function isOfTexts({ _id }: RankedList): boolean {
  return _id.startsWith(textKey(''));
}

/** A short list counts more than a long one. */
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
