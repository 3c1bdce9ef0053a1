import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Collection, ObjectId, WithId } from 'mongodb';
import { after, type Clock, HOUR } from '../platform/clock.ts';
import type { ActiveLease } from '../platform/periods/work-lease.ts';
import type { Server } from '../servers/server.ts';
import { FILTERED, type Filtered, listKey, listKeys } from './filters.ts';
import { foldName, hashOf, nameTerms, termKey } from './name-terms.ts';
import { type Choice, type Choices, type ListingSummary, type RankedList, SUMMARY } from './ranked-list.ts';
import { RANKED } from './ranking-pipeline.ts';
import { addTo, type Making, replaceLists } from './replace-lists.ts';

type Listing = {
  servers: Collection<Server>;
  rankedLists: Collection<RankedList>;
  listingSummary: Collection<ListingSummary>;
  clock: Clock;
};

/** So many servers stand in one part of a list. */
export const PART = 200;

/** Of the servers whose names have one piece so many are kept, the best: more would be read for every search. */
const MOST_OF_A_TERM = 250;

/** While no name changes, the lists of names stay so long; only which are the best of many changes meanwhile. */
const NAMES_TTL_MS = 6 * HOUR;

/** A larger batch would hold up other work of the process while it is read. */
const BATCH = 1_000;

/** So many of each are offered to filter by. */
const MOST_CHOICES = 60;

/**
 * Writes the lists that pages of the listing and its search read, as the ranking stands: one for each set of filters
 * that a server passes, and one for each piece of a name. Only what changed is written. Killed half-way, the next
 * run finishes it.
 */
export async function writeLists(deps: Listing, lease: ActiveLease): Promise<void> {
  const { rankedLists, listingSummary, clock } = deps;
  const { ids, names, lists } = await readRanking(deps);
  await replaceLists(rankedLists, lease, { prefix: 'f:', lists, length: PART, order: 'rank' }, ids);
  const before = await listingSummary.findOne({ _id: SUMMARY });
  const digest = digestOf(ids, names);
  const stand = before?.names.digest === digest && before.names.at > after(clock.now(), -NAMES_TTL_MS);
  const at = clock.now();
  if (!stand) {
    // Killed half-way, the lists are no more those of the names that the summary says.
    await listingSummary.updateOne({ _id: SUMMARY }, { $set: { 'names.digest': '' } });
    await writeNames(deps, lease, ids, names);
  }
  lease.throwIfLost();
  const summary = {
    _id: SUMMARY,
    ...summaryOf(lists, ids.length),
    names: stand ? before.names : { digest, at },
  };
  await listingSummary.replaceOne({ _id: SUMMARY }, summary, { upsert: true });
}

/** All that is listed, in its order, and the lists of every set of filters. */
async function readRanking({ servers, clock }: Listing) {
  const now = clock.now();
  const ids: ObjectId[] = [];
  const names: string[] = [];
  // Always there, so that an empty listing is known to be one.
  const lists = new Map<string, Making>([[listKey({}), { places: [], total: 0 }]]);
  const inOrder = servers
    .find(RANKED, { batchSize: BATCH })
    .sort({ rankPosition: 1 })
    .project<WithId<Filtered & { name: string }>>({ name: 1, ...FILTERED });
  for await (const server of inOrder) {
    const place = ids.push(server._id) - 1;
    names.push(server.name);
    for (const key of listKeys(server, now)) addTo(lists, key, place);
  }
  return { ids, names, lists };
}

async function writeNames({ rankedLists }: Listing, lease: ActiveLease, ids: ObjectId[], names: string[]) {
  const lists = new Map<string, Making>();
  for (const [place, name] of names.entries()) {
    if (place % BATCH === 0) await letOthersRun();
    for (const term of nameTerms(foldName(name))) addTo(lists, termKey(term), place, MOST_OF_A_TERM);
  }
  await replaceLists(rankedLists, lease, { prefix: 'n:', lists, length: MOST_OF_A_TERM, order: 'id' }, ids);
}

/** The same for the same names of the same servers, whatever their order. */
function digestOf(ids: ObjectId[], names: string[]): string {
  const sum = names.reduce((total, name, place) => total + hashOf(`${ids[place]?.toHexString()} ${name}`), 0);
  return `${names.length} ${sum}`;
}

function summaryOf(lists: Map<string, Making>, servers: number): Choices {
  return {
    servers,
    online: lists.get(listKey({ online: true }))?.total ?? 0,
    games: choicesOf(lists, (value) => listKey({ game: value })),
    countries: choicesOf(lists, (value) => listKey({ country: value })),
    versions: choicesOf(lists, (value) => listKey({ version: value })),
  };
}

/** What the lists with this one filter are of, the most frequent first. */
function choicesOf(lists: Map<string, Making>, keyOf: (value: string) => string): Choice[] {
  const start = keyOf(' ').slice(0, -1);
  return [...lists]
    .filter(([key]) => key.startsWith(start) && !key.includes('&'))
    .map(([key, { total }]) => ({ value: key.slice(start.length), servers: total }))
    .toSorted((a, b) => b.servers - a.servers || (a.value < b.value ? -1 : 1))
    .slice(0, MOST_CHOICES);
}
