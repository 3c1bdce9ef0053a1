import type { ObjectId } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { dayOf, markDone, startOfDay } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { isSettledDay } from '../../src/votes/recount-votes.ts';
import { repairCounters } from '../../src/votes/repair-counters.ts';
import { voteFigures } from '../../src/votes/vote-figures.ts';
import { listServer, placesOf, setCounters } from '../ranking/ranked-servers.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { storedVote } from '../support/votes.ts';
import { startScheduler, startWorker } from '../support/workers.ts';
import { castingDeps } from './game-server.ts';

function daysAgo(deps: AppDeps, days: number): string {
  return dayOf(after(deps.clock.now(), -days * DAY));
}

/** Votes from the middle of a day that the counters do not include. */
async function insertVotes(deps: AppDeps, serverId: ObjectId, day: string, count: number) {
  const noon = after(startOfDay(day), 12 * HOUR);
  const votes = Array.from({ length: count }, (_, i) => storedVote(serverId, `${day}-${i}`, noon));
  await deps.votes.insertMany(votes);
}

const allVotes = async (deps: AppDeps, serverId: ObjectId) =>
  (await voteFigures(deps, serverId)).allTimeVotes;

it('repairs the counters of every missed day and reports how wrong they were', async () => {
  const deps = await castingDeps();
  const [right, wrong, phantom] = [await listServer(deps), await listServer(deps), await listServer(deps)];
  await markDone(deps, 'repair-counters', daysAgo(deps, 4));
  for (const days of [5, 3, 2, 0]) {
    await insertVotes(deps, wrong, daysAgo(deps, days), days + 1);
    await insertVotes(deps, right, daysAgo(deps, days), 1);
    await setCounters(deps, right, { [daysAgo(deps, days)]: 1 });
  }
  await setCounters(deps, phantom, { [daysAgo(deps, 2)]: 5 });
  const worker = await startWorker(deps.config, { args: ['repair-counters'] });
  await Promise.all([startScheduler(deps.config), startScheduler(deps.config)]);
  await vi.waitFor(async () => {
    const marks = await deps.periodMarks.find({ work: 'repair-counters' }).toArray();
    // The votes of yesterday are settled ten minutes after midnight.
    const due = [4, 3, 2, 1].map((days) => daysAgo(deps, days));
    expect(marks.map(({ period }) => period).toSorted()).toEqual(
      due.filter((day) => isSettledDay(day, deps.clock.now())),
    );
  }, EVENTUALLY);
  // Neither the day before the oldest mark nor today is repaired.
  expect(await allVotes(deps, wrong)).toBe(4 + 3);
  expect(await allVotes(deps, phantom)).toBe(0);
  const drifts = worker.lines.filter(({ event }) => event === 'votes.drift');
  expect(drifts.map(({ serverId, counted, votes }) => [serverId, counted, votes])).toEqual([
    [wrong.toHexString(), 0, 4],
    [wrong.toHexString(), 0, 3],
    [phantom.toHexString(), 5, 0],
  ]);
});

it('does not repair a day before it is settled', async () => {
  const deps = await castingDeps();
  await expect(repairCounters(deps, daysAgo(deps, 0))).rejects.toMatchObject({
    code: 'day-not-settled',
  });
});

it('computes the ranks when the scheduler starts, also with several workers', async () => {
  const deps = await castingDeps();
  const ids = await Promise.all(Array.from({ length: 5 }, () => listServer(deps)));
  const last = ids[4];
  if (last) await setCounters(deps, last, { [daysAgo(deps, 0)]: 1 });
  await Promise.all([
    startWorker(deps.config, { args: ['recompute-ranks'] }),
    startWorker(deps.config, { args: ['recompute-ranks'] }),
    startScheduler(deps.config),
  ]);
  await vi.waitFor(async () => {
    const places = await placesOf(deps, ids);
    expect(places[4]).toBe(1);
    expect(places.toSorted()).toEqual([1, 2, 3, 4, 5]);
  }, EVENTUALLY);
});
