import { systemClock } from '../../platform/clock.ts';
import type { Mongo } from '../../platform/mongo.ts';
import { listKey } from '../../ranking/filters.ts';
import { SUMMARY } from '../../ranking/ranked-list.ts';
import { RANKED } from '../../ranking/ranking-pipeline.ts';
import { partId } from '../../ranking/replace-lists.ts';
import { writeLists } from '../../ranking/write-lists.ts';
import { bindCollections } from '../collections.ts';

/**
 * Writes the lists that public pages read where there are none: builds before 0.1.0 had none, later ones had none in
 * other orders than the rank, and an operator may drop them. So it repeats; without it the pages would be empty until the
 * next ranking.
 */
export async function listRankedServers(mongo: Mongo): Promise<void> {
  const { servers, reviewLists, rankedLists, listingSummary } = bindCollections(mongo);
  const newest = { _id: partId(listKey({}, 'newest'), 0) };
  if ((await listingSummary.findOne({ _id: SUMMARY })) && (await rankedLists.findOne(newest))) return;
  if (!(await servers.findOne(RANKED, { projection: { _id: 1 } }))) return;
  // A ranking at the same moment writes the same.
  const { signal } = new AbortController();
  const lease = { signal, throwIfLost: () => undefined };
  await writeLists({ servers, reviewLists, rankedLists, listingSummary, clock: systemClock() }, lease);
}
