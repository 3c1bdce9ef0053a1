import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { after, DAY } from '../../src/platform/clock.ts';
import { addDays, dayOf } from '../../src/platform/periods/period-marks.ts';
import { RISING_DAYS, readPicks } from '../../src/ranking/list-picks.ts';
import { readListingSummary } from '../../src/ranking/read-lists.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { listServers } from '../support/servers.ts';
import { testDeps } from '../support/test-deps.ts';

test('rising: the servers with votes that gained most ranks in a week; new: those with the most players', async () => {
  const deps = await testDeps();
  const now = deps.clock.now();
  const ids = await listServers(deps, [
    { name: 'Leads', votes: 9, online: 5 },
    { name: 'Rose by four', votes: 8, online: 5 },
    { name: 'Rose by one', votes: 7, online: 5 },
    { name: 'Fell', votes: 6, online: 5 },
    { name: 'No votes', votes: 0, online: 40 },
    { name: 'Offline', votes: 0, online: null },
  ]);
  const day = addDays(dayOf(now), -RISING_DAYS);
  for (const [index, rank] of [1, 6, 4, 2, 9].entries()) {
    const days = { [day.slice(8)]: rank };
    const serverId = ids[index] as ObjectId;
    await deps.rankSnapshots.insertOne({ _id: new ObjectId(), serverId, month: day.slice(0, 7), days });
  }
  await deps.servers.updateMany({}, { $set: { listedAt: after(now, -90 * DAY) } });
  const recent = { name: { $in: ['Leads', 'No votes', 'Offline'] } };
  await deps.servers.updateMany(recent, { $set: { listedAt: after(now, -DAY) } });
  await recomputeRanks(deps);
  const picked = async () => readPicks(deps, await readListingSummary(deps));
  const { rising, newcomers } = await picked();
  expect(rising.map(({ row, places }) => [row.name, places])).toEqual([
    ['Rose by four', 4],
    ['Rose by one', 1],
  ]);
  expect(newcomers.map(({ name }) => name)).toEqual(['No votes', 'Leads']);
  await deps.servers.updateOne({ name: 'Rose by four' }, { $set: { hiddenAt: now } });
  expect((await picked()).rising.map(({ row }) => row.name)).toEqual(['Rose by one']);
});
