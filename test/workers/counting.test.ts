import type { ObjectId } from 'mongodb';
import { expect, it, onTestFinished, vi } from 'vitest';
import { after, DAY, HOUR, SECOND } from '../../src/clock.ts';
import { dayOf, markDone, startOf } from '../../src/periods/period-marks.ts';
import type { Platform } from '../../src/platform.ts';
import { excludeVotes } from '../../src/votes/exclude-votes.ts';
import { repairCounters } from '../../src/votes/repair-counters.ts';
import { voteFigures } from '../../src/votes/vote-figures.ts';
import { listServer, placesOf, setCounters } from '../ranking/ranked-servers.ts';
import { PATIENT } from '../support/patient.ts';
import { storedVote } from '../support/votes.ts';
import { startScheduler, startWorker } from '../support/worker-process.ts';
import { castingPlatform } from './game-server.ts';

function daysAgo(platform: Platform, days: number): string {
  return dayOf(after(platform.clock.now(), -days * DAY));
}

/** Votes of the middle of a day that no counter knows of. */
async function insertVotes(platform: Platform, serverId: ObjectId, day: string, count: number) {
  const noon = after(startOf(day), 12 * HOUR);
  const votes = Array.from({ length: count }, (_, i) => storedVote(serverId, `${day}-${i}`, noon));
  await platform.votes.insertMany(votes);
}

const allVotes = async (platform: Platform, serverId: ObjectId) =>
  (await voteFigures(platform, serverId)).allTimeVotes;

it('repairs the counters of every missed day and says by how much they were wrong', async () => {
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
    expect(marks.map(({ period }) => period).toSorted()).toEqual(
      [4, 3, 2, 1].map((days) => daysAgo(platform, days)),
    );
  }, PATIENT);
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

it('ranks when the scheduler starts, however many workers there are', async () => {
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
  }, PATIENT);
});

it('finishes an exclusion whose worker was killed half-way', async () => {
  const platform = await castingPlatform();
  const serverId = await listServer(platform);
  const day = daysAgo(platform, 2);
  await insertVotes(platform, serverId, day, 30_000);
  await setCounters(platform, serverId, { [day]: 30_000 });
  // Asked for, and cut short before anything was done.
  const stopped = new AbortController();
  const request = { serverId, since: startOf(day), until: startOf(daysAgo(platform, 1)), tokenId: null };
  const begun = excludeVotes(platform, { ...request, reason: 'A flood' }, 'someone', {
    signal: stopped.signal,
    progress: () => stopped.abort(),
  });
  await expect(begun).rejects.toThrow();
  const marked = () => platform.votes.countDocuments({ serverId, excludedAt: { $gt: new Date(0) } });
  const exclusion = () => platform.voteExclusions.findOne({ serverId });
  expect((await exclusion())?.state).toBe('excluding');

  const first = await marked();
  const killed = await startWorker(platform.config, { args: ['exclude-votes'] });
  await startScheduler(platform.config);
  await vi.waitFor(async () => expect(await marked()).toBeGreaterThan(first), PATIENT);
  await killed.kill();
  const half = await marked();
  expect(half).toBeLessThan(30_000);
  expect((await exclusion())?.state).toBe('excluding');

  const worker = await startWorker(platform.config, { args: ['exclude-votes'] });
  onTestFinished(() => void worker.terminate());
  await vi.waitFor(
    async () => expect(await exclusion()).toMatchObject({ state: 'excluded', votes: 30_000 }),
    {
      ...PATIENT,
      timeout: 40 * SECOND,
    },
  );
  expect(await allVotes(platform, serverId)).toBe(0);
  expect(await platform.auditLog.countDocuments({ action: 'vote.exclude' })).toBe(1);
}, 90_000);
