import { addDays, dayOf, dueDays, markDone } from '../../platform/periods/period-marks.ts';
import { RANK_SNAPSHOT, ranksAfter } from '../../ranking/rank-snapshots.ts';
import type { EventsDeps } from '../deps.ts';
import { eventIdOf } from '../event.ts';
import { COLLECTING, storeEvents } from '../store-events.ts';

const RANK_CHANGES = 'rank-changes';

/**
 * Once a day, when the ranks of yesterday are stored: the event of each server with a subscription to its rank, if it is
 * another one than at the end of the day before. Returns how many were new. A day that was missed stays without.
 */
export async function storeRankChanges(deps: EventsDeps): Promise<number> {
  const day = addDays(dayOf(deps.clock.now()), -1);
  const isDue = async (work: string) => (await dueDays(deps, work, { first: day, last: day })).length > 0;
  if (!(await isDue(RANK_CHANGES)) || (await isDue(RANK_SNAPSHOT))) return 0;
  const serverIds = await deps.subscriptions.distinct('serverId', { kinds: 'rank.changed', ...COLLECTING });
  const [ranks, before] = await Promise.all([
    ranksAfter(deps, serverIds, day),
    ranksAfter(deps, serverIds, addDays(day, -1)),
  ]);
  let stored = 0;
  for (const serverId of serverIds) {
    const id = serverId.toHexString();
    const [rank, previous] = [ranks.get(id), before.get(id)];
    if (rank === undefined || previous === undefined || rank === previous) continue;
    const event = {
      _id: eventIdOf('rank.changed', `${id}:${day}`),
      type: 'rank.changed',
      at: deps.clock.now(),
      data: { rank, previous_rank: previous, day },
    } as const;
    stored += await storeEvents(deps, serverId, [event]);
  }
  await markDone(deps, RANK_CHANGES, day);
  return stored;
}
