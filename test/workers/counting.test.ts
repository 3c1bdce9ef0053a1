import type { ObjectId } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { dayOf, markDone, startOf } from '../../src/platform/periods/period-marks.ts';
import type { Platform } from '../../src/process/app-deps.ts';
import { isSettledDay } from '../../src/votes/recount-votes.ts';
import { repairCounters } from '../../src/votes/repair-counters.ts';
import { voteFigures } from '../../src/votes/vote-figures.ts';
import { listServer, placesOf, setCounters } from '../ranking/ranked-servers.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { storedVote } from '../support/votes.ts';
import { startScheduler, startWorker } from '../support/workers.ts';
import { castingPlatform } from './game-server.ts';

function daysAgo(platform: Platform, days: number): string {
  return dayOf(after(platform.clock.now(), -days * DAY));
}

/** Votes of the middle of a day that are not in the counters. */
async function insertVotes(platform: Platform, serverId: ObjectId, day: string, count: number) {
  const noon = after(startOf(day), 12 * HOUR);
  const votes = Array.from({ length: count }, (_, i) => storedVote(serverId, `${day}-${i}`, noon));
  await platform.votes.insertMany(votes);
}

const allVotes = async (platform: Platform, serverId: ObjectId) =>
  (await voteFigures(platform, serverId)).allTimeVotes;

it('repairs the counters of every missed day and reports by how much they were wrong', async () => {
  const platform = await castingPlatform();
  const [right, wrong, phantom] = [
    await listServer(platform),
    await listServer(platform),
    await listServer(platform),
  ];
  await markDone(platform, 'repair-counters', daysAgo(platform, 4));
  for (const days of [5, 3, 2, 0]) {
    await insertVotes(platform, wrong, daysAgo(platform, days), days + 1);
    await insertVotes(platform, right, daysAgo(platform, days), 1);
    await setCounters(platform, right, { [daysAgo(platform, days)]: 1 });
  }
  await setCounters(platform, phantom, { [daysAgo(platform, 2)]: 5 });
  const worker = await startWorker(platform.config, { args: ['repair-counters'] });
  await Promise.all([startScheduler(platform.config), startScheduler(platform.config)]);
  await vi.waitFor(async () => {
    const marks = await platform.periodMarks.find({ work: 'repair-counters' }).toArray();
    // Yesterday is settled ten minutes after midnight.
    const due = [4, 3, 2, 1].map((days) => daysAgo(platform, days));
    expect(marks.map(({ period }) => period).toSorted()).toEqual(
      due.filter((day) => isSettledDay(day, platform.clock.now())),
    );
  }, EVENTUALLY);
  // Neither the day before the oldest mark nor today.
  expect(await allVotes(platform, wrong)).toBe(4 + 3);
  expect(await allVotes(platform, phantom)).toBe(0);
  const drifts = worker.lines.filter(({ event }) => event === 'votes.drift');
  expect(drifts.map(({ serverId, counted, votes }) => [serverId, counted, votes])).toEqual([
    [wrong.toHexString(), 0, 4],
    [wrong.toHexString(), 0, 3],
    [phantom.toHexString(), 5, 0],
  ]);
});

it('does not repair a day before it is settled', async () => {
  const platform = await castingPlatform();
  await expect(repairCounters(platform, daysAgo(platform, 0))).rejects.toMatchObject({
    code: 'day-not-settled',
  });
});

it('computes the ranks when the scheduler starts, also with several workers', async () => {
  const platform = await castingPlatform();
  const ids = await Promise.all(Array.from({ length: 5 }, () => listServer(platform)));
  const last = ids[4];
  if (last) await setCounters(platform, last, { [daysAgo(platform, 0)]: 1 });
  await Promise.all([
    startWorker(platform.config, { args: ['recompute-ranks'] }),
    startWorker(platform.config, { args: ['recompute-ranks'] }),
    startScheduler(platform.config),
  ]);
  await vi.waitFor(async () => {
    const places = await placesOf(platform, ids);
    expect(places[4]).toBe(1);
    expect(places.toSorted()).toEqual([1, 2, 3, 4, 5]);
  }, EVENTUALLY);
});
