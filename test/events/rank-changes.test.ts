import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { storeRankChanges } from '../../src/events/sources/rank-changes.ts';
import { DAY, HOUR } from '../../src/platform/clock.ts';
import { addDays, dayOf, markDone } from '../../src/platform/periods/period-marks.ts';
import { RANK_SNAPSHOT } from '../../src/ranking/rank-snapshots.ts';
import { sourceBench } from './source-bench.ts';

/** A server with a subscription to its rank. `ranked` stores its rank at the end of yesterday. */
async function rankedBench(at: string) {
  const bench = await sourceBench(at);
  const { deps, clock, serverId } = bench;
  await bench.subscribe(['rank.changed']);
  return {
    ...bench,
    async ranked(rank: number | null) {
      const day = addDays(dayOf(clock.now()), -1);
      const month = { serverId, month: day.slice(0, 7) };
      const set = { [`days.${day.slice(8)}`]: rank };
      if (rank !== null)
        await deps.rankSnapshots.updateOne(
          month,
          { $set: set, $setOnInsert: { _id: new ObjectId() } },
          { upsert: true },
        );
      await markDone(deps, RANK_SNAPSHOT, day);
    },
    store: () => storeRankChanges(deps),
  };
}

test('a rank that changed is one event a day, also over the end of a month and after a restart', async () => {
  const { deps, clock, ranked, store, events } = await rankedBench('2026-11-30T01:30:00.000Z');
  await ranked(7);
  expect(await store()).toBe(0);
  clock.move(DAY);
  expect(await store()).toBe(0);
  await ranked(3);
  vi.spyOn(deps.periodMarks, 'updateOne').mockRejectedValueOnce(new Error('the process died'));
  await expect(store()).rejects.toThrow('the process died');
  clock.move(HOUR);
  expect(await store()).toBe(0);
  const data = { rank: 3, previous_rank: 7, day: '2026-11-30' };
  expect(await events()).toMatchObject([{ type: 'rank.changed', data }]);
  clock.move(DAY);
  await ranked(4);
  expect(await store()).toBe(1);
  expect(await store()).toBe(0);
  expect((await events()).at(-1)?.data).toMatchObject({ rank: 4, previous_rank: 3, day: '2026-12-01' });
});

test('the same rank, and a rank after a day without one, are no change', async () => {
  const { clock, ranked, store, events } = await rankedBench('2026-11-21T01:30:00.000Z');
  await ranked(7);
  clock.move(DAY);
  await ranked(7);
  expect(await store()).toBe(0);
  clock.move(DAY);
  await ranked(null);
  expect(await store()).toBe(0);
  clock.move(DAY);
  await ranked(1);
  expect(await store()).toBe(0);
  expect(await events()).toEqual([]);
});
