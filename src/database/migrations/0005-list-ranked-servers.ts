import { systemClock } from '../../platform/clock.ts';
import type { Mongo } from '../../platform/mongo.ts';
import { listKey } from '../../ranking/filters.ts';
import { SUMMARY } from '../../ranking/ranked-list.ts';
import { RANKED } from '../../ranking/ranking-pipeline.ts';
import { partId } from '../../ranking/replace-lists.ts';
import { writeLists } from '../../ranking/write-lists.ts';
import { bindCollections } from '../collections.ts';

/**
 * If the lists of the public pages are missing, writes them. Builds before 0.1.0 had no lists, later builds had only
 * the order by rank, and an operator may drop the collection. The migration repeats: without the lists, the pages would
 * be empty until the next ranking.
 */
export async function listRankedServers(mongo: Mongo): Promise<void> {
  const { servers, reviewLists, rankedLists, rankSnapshots, listingSummary } = bindCollections(mongo);
  const newest = { _id: partId(listKey({}, 'newest'), 0) };
  if ((await listingSummary.findOne({ _id: SUMMARY })) && (await rankedLists.findOne(newest))) return;
  if (!(await servers.findOne(RANKED, { projection: { _id: 1 } }))) return;
  // No real lease is needed: a ranking that runs at the same moment writes the same lists.
  const { signal } = new AbortController();
  const lease = { signal, throwIfLost: () => undefined };
  const deps = { servers, reviewLists, rankedLists, rankSnapshots, listingSummary, clock: systemClock() };
  await writeLists(deps, lease);
}
