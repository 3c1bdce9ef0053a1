import { after, DAY, MINUTE } from '../src/clock.ts';
import { dayOf, dueDays } from '../src/periods/period-marks.ts';
import type { Platform } from '../src/platform.ts';
import { requestRanks } from '../src/ranking/request-ranks.ts';
import { openExclusions } from '../src/votes/exclude-votes.ts';

/** A day's counters are repaired so long after its end (design rule 8). */
const SETTLED_MS = 10 * MINUTE;

/** A repair for every finished day that has none yet; the marks in MongoDB say which. */
export async function enqueueRepairs({ log, producer, ...marks }: Platform): Promise<boolean> {
  const last = dayOf(after(marks.clock.now(), -DAY - SETTLED_MS));
  const days = await dueDays(marks, 'repair-counters', { last });
  const jobs = days.map((day) => ({ payload: { day }, subject: day }));
  if ((await producer.addAll('repair-counters', jobs)) < jobs.length) return false;
  if (days.length > 0) log.info({ event: 'schedule.enqueued', work: 'repair-counters', days });
  return true;
}

/** A ranking, whatever was missed: it goes by what stands in MongoDB now. */
export function enqueueRanking({ producer }: Platform): Promise<boolean> {
  return requestRanks(producer);
}

/** Exclusions of votes that were cut short. One that is under way keeps its job waiting, and is through then. */
export async function enqueueExclusions({ producer, ...platform }: Platform): Promise<boolean> {
  const open = await openExclusions(platform);
  const jobs = open.map((exclusionId) => ({ payload: { exclusionId: exclusionId.toHexString() } }));
  return (await producer.addAll('exclude-votes', jobs)) === jobs.length;
}
