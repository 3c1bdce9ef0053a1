import { addDays, dayOf, markDone } from '../../platform/periods/period-marks.ts';
import type { RankingDeps } from '../deps.ts';

/** The name of the period mark whose day is the first one that is weighed. */
const WEIGH_VOTES = 'weigh-votes';

/** The first UTC day whose votes are weighed; null before the first ranking that weighs. */
export async function firstWeighedDay({ periodMarks }: RankingDeps): Promise<string | null> {
  const mark = await periodMarks.findOne({ work: WEIGH_VOTES }, { sort: { period: 1 } });
  return mark?.period ?? null;
}

/**
 * Returns the first UTC day whose votes are weighed. In the first ranking it sets this day: tomorrow, because processes
 * of the previous version may still accept votes today; or today if there are no votes yet.
 */
export async function startWeighing(deps: RankingDeps): Promise<string> {
  const started = await firstWeighedDay(deps);
  if (started) return started;
  const today = dayOf(deps.clock.now());
  const hasVotes = (await deps.voteCounters.findOne({}, { projection: { _id: 1 } })) !== null;
  const first = hasVotes ? addDays(today, 1) : today;
  await markDone(deps, WEIGH_VOTES, first);
  return first;
}
