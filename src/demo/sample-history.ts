import { aggregateTouchedDays } from '../import-export/import.ts';
import { writeSamples } from '../import-export/import-samples.ts';
import { writeVotes } from '../import-export/import-votes.ts';
import { after, DAY, MINUTE } from '../platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../platform/periods/period-marks.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { recountVotes } from '../votes/recount-votes.ts';
import { type ListedSample, samplesOf, votesOn } from './sample-days.ts';

const HISTORY_DAYS = 30;
const BATCH = 2_000;

/**
 * Writes up to 30 days of made-up history for sample servers: samples, daily stats and votes. The same time always gets
 * the same sample, so the next run completes an interrupted one. `countToday` counts today's votes.
 */
export async function writeSampleHistory(deps: AppDeps, listed: ListedSample[]): Promise<void> {
  const now = deps.clock.now();
  const first = startOfDay(addDays(dayOf(now), -HISTORY_DAYS));
  // Votes of the last minute are left out: `recountVotes` counts new minutes by increments, which made-up votes do not
  // have.
  const settled = after(now, -MINUTE);
  const touched: { serverId: ListedSample['serverId']; days: string[] }[] = [];
  for (const one of listed) {
    const { serverId, sample } = one;
    const listedAt = after(now, -sample.listedDays * DAY);
    await deps.servers.updateOne({ _id: serverId }, { $min: { listedAt } });
    const from = startOfDay(dayOf(listedAt > first ? listedAt : first));
    const days = daysFrom(from, now);
    touched.push({ serverId, days });
    for (const some of batches(samplesOf(one, from, now))) await writeSamples(deps, some);
    const votes = days.flatMap((day) => votesOn(one, day)).filter(({ votedAt }) => votedAt <= settled);
    for (const some of batches(votes)) await writeVotes(deps, some);
  }
  await aggregateTouchedDays(deps, touched);
  const today = dayOf(now);
  for (const { serverId, days } of touched)
    await recountVotes(
      deps,
      serverId,
      days.filter((day) => day < today),
    );
}

/** Counts today's votes of sample servers. */
export async function countToday(deps: AppDeps, listed: ListedSample[]): Promise<void> {
  const today = dayOf(deps.clock.now());
  await Promise.all(listed.map(({ serverId }) => recountVotes(deps, serverId, [today])));
}

function daysFrom(from: Date, now: Date): string[] {
  const days: string[] = [];
  for (let day = dayOf(from); day <= dayOf(now); day = addDays(day, 1)) days.push(day);
  return days;
}

function batches<T>(all: T[]): T[][] {
  const count = Math.ceil(all.length / BATCH);
  return Array.from({ length: count }, (_, index) => all.slice(index * BATCH, (index + 1) * BATCH));
}
