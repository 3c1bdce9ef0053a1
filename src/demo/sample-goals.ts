import { setGoal } from '../goals/change-goal.ts';
import { countGoal } from '../goals/count-goal.ts';
import { after, DAY } from '../platform/clock.ts';
import { dayOf, startOfDay } from '../platform/periods/period-marks.ts';
import type { AppDeps } from '../process/app-deps.ts';
import type { ListedSample } from './sample-days.ts';

/** Counts at the end of each day, so that the rounds of the last `days` days were reached one after the other. */
export async function writeSampleGoal(
  deps: AppDeps,
  { serverId, sample }: ListedSample,
  days: number,
): Promise<void> {
  if (!sample.goal) return;
  const now = deps.clock.now();
  const at = (time: Date) => ({ ...deps, clock: { now: () => time } });
  const first = after(startOfDay(dayOf(now)), -days * DAY);
  await setGoal(at(first), serverId, sample.goal, 'demo');
  for (let time = first; time < now; time = after(time, DAY)) await countGoal(at(time), serverId);
  await countGoal(deps, serverId);
}
