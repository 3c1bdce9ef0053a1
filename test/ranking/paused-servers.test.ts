import type { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { after, DAY } from '../../src/platform/clock.ts';
import { addDays, dayOf } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { explainRank } from '../../src/ranking/explain-rank.ts';
import { randomSlug } from '../../src/ranking/picked-servers.ts';
import { rankHistory, storeRanks } from '../../src/ranking/rank-snapshots.ts';
import { readListingSummary, readListPage, readNewcomers } from '../../src/ranking/read-lists.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { searchListing } from '../../src/ranking/search-listing.ts';
import { SORTS } from '../../src/ranking/sorts.ts';
import { listServers } from '../support/servers.ts';
import { testDeps } from '../support/test-deps.ts';

/** Three servers of Minecraft, the best one paused since `days` ago. */
async function listed(env: Record<string, string> = {}, days = 1) {
  const deps = await testDeps(env);
  const ids = await listServers(deps, [
    {
      name: 'Alpha Craft',
      votes: 9,
      online: 30,
      uptime: 99,
      reviews: { count: 5, ratingSum: 25 },
      game: 'minecraft',
    },
    { name: 'Beta Craft', votes: 5, online: 3, uptime: 90, game: 'minecraft' },
    { name: 'Gamma Craft', votes: 1, online: 2, uptime: 80, game: 'minecraft' },
  ]);
  const [paused] = ids as [ObjectId];
  await pause(deps, paused, days);
  return { deps, ids, paused };
}

async function pause(deps: AppDeps, _id: ObjectId, days: number): Promise<void> {
  await deps.servers.updateOne(
    { _id },
    { $set: { listingPause: { at: after(deps.clock.now(), -days * DAY) } } },
  );
  await recomputeRanks(deps);
}

const names = (rows: { name: string }[]) => rows.map(({ name }) => name);
const LAST = ['Beta Craft', 'Gamma Craft', 'Alpha Craft'];

it('a paused server has the last rank and is last in each order, without a gap in the ranks', async () => {
  const { deps, ids } = await listed();
  for (const sort of SORTS) {
    const rows = (await readListPage(deps, { game: 'minecraft' }, 1, sort))?.rows ?? [];
    expect(names(rows).at(-1)).toBe('Alpha Craft');
    expect(rows.at(-1)).toMatchObject({ status: 'unknown', rank: 3, listingPause: {} });
  }
  const found = await deps.servers
    .find({ _id: { $in: ids } })
    .sort({ rankPosition: 1 })
    .toArray();
  expect(names(found)).toEqual(LAST);
  expect(found.map(({ rankPosition }) => rankPosition)).toEqual([1, 2, 3]);
  expect(await readListPage(deps, { online: true }, 1)).toMatchObject({ total: 2 });
  expect(names(await searchListing(deps, 'alpha craft'))).toEqual([...LAST.slice(0, 2), 'Alpha Craft']);
  const explained = await explainRank(deps, found[2] as never);
  expect(explained.above).toMatchObject({ name: 'Gamma Craft', by: 'pause' });
});

it('with PAUSED_SERVERS=hidden no list and no search has it, and its page stays', async () => {
  const { deps } = await listed({ PAUSED_SERVERS: 'hidden' });
  for (const sort of SORTS)
    expect(names((await readListPage(deps, {}, 1, sort))?.rows ?? [])).not.toContain('Alpha Craft');
  expect(names(await searchListing(deps, 'alpha craft'))).not.toContain('Alpha Craft');
  expect(names(await searchListing(deps, '1.example.org'))).not.toContain('Alpha Craft');
  expect(await readListingSummary(deps)).toMatchObject({ servers: 2 });
});

it('it is neither drawn at random nor a newcomer', async () => {
  const { deps, paused } = await listed();
  const draws = await Promise.all(Array.from({ length: 30 }, () => randomSlug(deps, {})));
  expect(draws).not.toContain('alpha-craft');
  await deps.servers.updateMany({}, { $set: { listedAt: after(deps.clock.now(), -DAY) } });
  await recomputeRanks(deps);
  expect(names(await readNewcomers(deps, {}, 3))).toHaveLength(2);
  expect(await deps.servers.countDocuments({ _id: paused, hiddenAt: null, removedAt: null })).toBe(1);
});

it('gets its rank back, and the days of the pause have no rank: no event and no “rising” follows', async () => {
  const { deps, paused } = await listed({}, 2);
  const today = dayOf(deps.clock.now());
  // The pause began two days ago: the rank of the day before is stored, not those of the pause.
  for (const days of [-3, -2, -1]) await storeRanks(deps, addDays(today, days), null);
  expect((await rankHistory(deps, paused)).map(({ day }) => day)).toEqual([addDays(today, -3)]);
  const from = after(deps.clock.now(), -2 * DAY);
  await deps.servers.updateOne(
    { _id: paused },
    { $unset: { listingPause: '' }, $set: { earlierPauses: [{ from, until: deps.clock.now() }] } },
  );
  await recomputeRanks(deps);
  expect(await deps.servers.findOne({ _id: paused })).toMatchObject({ rankPosition: 1 });
  // Stored late, after the pause: the same.
  await storeRanks(deps, addDays(today, -1), null);
  expect(await rankHistory(deps, paused)).toHaveLength(1);
});
