import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { ObjectId, WithId } from 'mongodb';
import { after, HOUR } from '../platform/clock.ts';
import type { ActiveLease } from '../platform/periods/work-lease.ts';
import type { Server } from '../servers/server.ts';
import type { RankingDeps } from './deps.ts';
import {
  FILTERED,
  type Filtered,
  type Filters,
  isListed,
  type ListsConfig,
  listKey,
  listKeys,
  listPrefix,
  NO_GAME_LIST,
} from './filters.ts';
import { pickServers } from './list-picks.ts';
import { foldName, hash32, nameTerms, termKey } from './name-terms.ts';
import { type Choice, type ListingSummary, type StoredListingSummary, SUMMARY } from './ranked-list.ts';
import { RANKED } from './ranking-pipeline.ts';
import { addTo, type ListInProgress, replaceLists } from './replace-lists.ts';
import { OTHER_SORTS, type OtherSort, readRatings, SORTED, type Sorted, sortFigure } from './sorts.ts';
import { SEARCHED, type Searched, textKey, textsOf, textTerms } from './text-terms.ts';

export const PART = 200;

/** Only the best ranked servers of a term are listed, because every search reads such lists. */
const MOST_OF_A_TERM = 250;

/** Ranks change, so the lists of terms are rewritten after this time even if no name or text changed. */
const TERMS_TTL_MS = 6 * HOUR;

/**
 * The servers' messages (MOTD) change all the time, so with more servers the lists of texts are rewritten less often:
 * in every ranking up to 10,000 servers, once an hour with 100,000. If a server was listed, hidden or removed: the next
 * ranking rewrites them.
 */
const textsEveryMs = (servers: number) => (servers <= 10_000 ? 0 : (HOUR * servers) / 100_000);

/** What the migration that fills empty lists has. */
type ListsDeps = Pick<
  RankingDeps,
  'servers' | 'reviewLists' | 'rankedLists' | 'rankSnapshots' | 'listingSummary' | 'clock'
> & { config?: ListsConfig };

/** Documents read or servers handled at a time. A larger batch would block other work of the process. */
const BATCH = 1_000;

/**
 * Lists for each set of filters in each order, and for each term of the names and other texts. Only what changed is
 * written. After a crash the next run completes the lists.
 */
export async function writeLists(deps: ListsDeps, lease: ActiveLease): Promise<void> {
  const { rankedLists, listingSummary, clock } = deps;
  const { ids, names, texts, lists, figures, votes } = await readRanking(deps);
  const written = { length: PART, order: 'given' } as const;
  await replaceLists(rankedLists, lease, { prefix: listPrefix('rank'), lists, ...written }, ids);
  for (const sort of OTHER_SORTS) {
    const sorted = inOrder(lists, sort, figures[sort]);
    await replaceLists(rankedLists, lease, { prefix: listPrefix(sort), lists: sorted, ...written }, ids);
  }
  const before = await listingSummary.findOne({ _id: SUMMARY });
  const now = clock.now();
  const isCurrent = (written: StoredListingSummary['names'] | undefined, digest: string, ttlMs: number) =>
    written?.digest === digest && written.at > after(now, -ttlMs);
  const namesDigest = digestOf(ids, names);
  const namesCurrent = isCurrent(before?.names, namesDigest, TERMS_TTL_MS);
  const textsDigest = digestOf(ids, texts);
  const textsCurrent =
    isCurrent(before?.texts, textsDigest, TERMS_TTL_MS) ||
    (namesCurrent &&
      before?.texts !== undefined &&
      isCurrent(before.texts, before.texts.digest, textsEveryMs(ids.length)));
  // If the process dies half-way, the lists do not match the stored digests. So these are reset before.
  const begun = {
    ...(namesCurrent ? {} : { 'names.digest': '' }),
    ...(textsCurrent || !before?.texts ? {} : { 'texts.at': new Date(0) }),
  };
  if (before && Object.keys(begun).length > 0) {
    await listingSummary.updateOne({ _id: SUMMARY }, { $set: begun });
  }
  if (!namesCurrent) await writeTerms(deps, lease, 'n:', ids, names, termsOfName);
  if (!textsCurrent) await writeTerms(deps, lease, 't:', ids, texts, termsOfText);
  lease.throwIfLost();
  const summary = {
    _id: SUMMARY,
    ...summariseLists(lists, {
      servers: ids.length,
      playing: playersOf(figures),
      votes: votes.reduce((sum, one) => sum + one, 0),
    }),
    picks: await pickServers(deps, { ids, votes, ...figures }),
    names: namesCurrent && before ? before.names : { digest: namesDigest, at: now },
    texts: textsCurrent && before?.texts ? before.texts : { digest: textsDigest, at: now },
  };
  await listingSummary.replaceOne({ _id: SUMMARY }, summary, { upsert: true });
}

/** By rank, in which paused servers are last; puts each server that is listed into the list of every combination of filters that it passes. */
async function readRanking({ servers, reviewLists, config, clock }: ListsDeps) {
  const now = clock.now();
  const ratings = await readRatings(reviewLists, {});
  const figures: Record<OtherSort, number[]> = { players: [], newest: [], rating: [], uptime: [] };
  const ids: ObjectId[] = [];
  const names: string[] = [];
  const texts: string[] = [];
  const votes: number[] = [];
  // The list of the whole ranking is always written, also if it is empty.
  const lists = new Map<string, ListInProgress>([[listKey({}), { places: [], total: 0 }]]);
  const inOrder = servers
    .find(RANKED, { batchSize: BATCH })
    .sort({ rankPosition: 1 })
    .project<WithId<Filtered & Sorted & Searched & Pick<Server, 'name' | 'ranked'>>>({
      name: 1,
      'ranked.votesCount': 1,
      ...FILTERED,
      ...SORTED,
      ...SEARCHED,
    });
  for await (const server of inOrder) {
    if (!isListed(server, config, now)) continue;
    const place = ids.push(server._id) - 1;
    names.push(server.name);
    texts.push(textsOf(server));
    votes.push(server.ranked?.votesCount ?? 0);
    for (const key of listKeys(server, now)) addTo(lists, key, place);
    const rating = ratings.get(server._id.toHexString()) ?? null;
    for (const sort of OTHER_SORTS) figures[sort].push(sortFigure(sort, server, rating, now));
  }
  return { ids, names, texts, lists, figures, votes };
}

/** The figure of servers that are not online is -1. */
function playersOf({ players }: Record<OtherSort, number[]>): number {
  return players.reduce((sum, figure) => sum + Math.max(0, figure), 0);
}

/** Each list under its key for that order. Sorts one list at a time. */
function* inOrder(
  lists: Map<string, ListInProgress>,
  sort: OtherSort,
  figures: number[],
): Generator<[string, ListInProgress]> {
  const figureAt = (place: number) => figures[place] ?? 0;
  const positions = new Uint32Array(figures.length);
  const all = figures.map((_, place) => place).toSorted((a, b) => figureAt(b) - figureAt(a) || a - b);
  for (const [position, place] of all.entries()) positions[place] = position;
  const positionAt = (place: number) => positions[place] ?? 0;
  const start = listPrefix('rank').length;
  for (const [key, { places, total }] of lists) {
    const sorted = places.toSorted((a, b) => positionAt(a) - positionAt(b));
    yield [`${listPrefix(sort)}${key.slice(start)}`, { places: sorted, total }];
  }
}

const termsOfName = (name: string) => nameTerms(foldName(name)).map(termKey);
const termsOfText = (text: string) => textTerms(text).map(textKey);

async function writeTerms(
  { rankedLists }: ListsDeps,
  lease: ActiveLease,
  prefix: string,
  ids: ObjectId[],
  texts: string[],
  keysOf: (text: string) => string[],
) {
  const lists = new Map<string, ListInProgress>();
  for (const [place, text] of texts.entries()) {
    if (place % BATCH === 0) await letOthersRun();
    for (const key of keysOf(text)) addTo(lists, key, place, MOST_OF_A_TERM);
  }
  await replaceLists(rankedLists, lease, { prefix, lists, length: MOST_OF_A_TERM, order: 'id' }, ids);
}

/** Does not depend on the order. */
function digestOf(ids: ObjectId[], names: string[]): string {
  const sum = names.reduce((total, name, place) => total + hash32(`${ids[place]?.toHexString()} ${name}`), 0);
  return `${names.length} ${sum}`;
}

/** A filter offers at most so many countries or versions. */
const MOST_CHOICES = 60;
const MOST_TAGS = 200;
/** More than gamedig has. */
const MOST_GAMES = 500;
const MOST_GAME_VERSIONS = 30;
const MOST_RELATED = 8;

type ListTotals = ReadonlyMap<string, Pick<ListInProgress, 'total'>>;

export function summariseLists(
  lists: ListTotals,
  figures: Pick<ListingSummary, 'servers' | 'playing' | 'votes'>,
): ListingSummary {
  return {
    ...figures,
    online: lists.get(listKey({ online: true }))?.total ?? 0,
    games: choicesOf(lists, 'game', MOST_GAMES),
    withoutGame: lists.get(NO_GAME_LIST)?.total ?? 0,
    countries: choicesOf(lists, 'country', MOST_CHOICES),
    versions: choicesOf(lists, 'version', MOST_CHOICES),
    tags: choicesOf(lists, 'tag', MOST_TAGS),
    gameVersions: related(lists, /^f:game=(?<of>[^&]+)&version=(?<value>[^&]+)$/, MOST_GAME_VERSIONS),
    gameTags: related(lists, /^f:game=(?<of>[^&]+)&tag=(?<value>[^&]+)$/, MOST_RELATED),
    gameCountries: related(lists, /^f:game=(?<of>[^&]+)&country=(?<value>[^&]+)$/, MOST_RELATED),
    tagGames: related(lists, /^f:game=(?<value>[^&]+)&tag=(?<of>[^&]+)$/, MOST_RELATED),
  };
}

/** From lists that have only this filter, the most frequent first. */
function choicesOf(lists: ListTotals, filter: Exclude<keyof Filters, 'online'>, most: number): Choice[] {
  const start = listKey({ [filter]: ' ' }).slice(0, -1);
  const choices = [...lists]
    .filter(([key]) => key.startsWith(start) && !key.includes('&'))
    .map(([key, { total }]) => ({ value: key.slice(start.length), servers: total }));
  return mostFrequent(choices, most);
}

/**
 * `shape` matches the keys of lists with two filters; its groups are `of` (a game) and `value` (one of its countries).
 */
function related(lists: ListTotals, shape: RegExp, most: number): Record<string, Choice[]> {
  const found = new Map<string, Choice[]>();
  for (const [key, { total }] of lists) {
    const { of, value } = shape.exec(key)?.groups ?? {};
    if (of && value) found.set(of, [...(found.get(of) ?? []), { value, servers: total }]);
  }
  return Object.fromEntries([...found].map(([of, choices]) => [of, mostFrequent(choices, most)]));
}

function mostFrequent(choices: Choice[], most: number): Choice[] {
  return choices.toSorted((a, b) => b.servers - a.servers || (a.value < b.value ? -1 : 1)).slice(0, most);
}
