import * as fc from 'fast-check';
import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { addDays, dayOf } from '../../src/platform/periods/period-marks.ts';
import { rankHistory } from '../../src/ranking/rank-snapshots.ts';
import { rankedAt, recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { unhideServer } from '../../src/servers/moderate-server.ts';
import { insert, probe } from '../history/samples.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { computeDays, listServer, placesOf, setCounters } from './ranked-servers.ts';

async function rankingAt(at: string) {
  const clock = stoppedClock(new Date(at));
  return { deps: { ...(await testDeps()), clock }, clock };
}

it('goes by votes, then probed uptime with none last, then the older listing, then the lower id', async () => {
  const { deps } = await rankingAt('2026-11-21T12:00:00Z');
  const day = { '2026-11-21': 5 };
  const [low, high] = ['1', '2'].map((id) => new ObjectId(id.padStart(24, '0')));
  const inOrder = [
    await listServer(deps, { listedAt: new Date('2026-06-01') }),
    await listServer(deps, { uptime: 99.9, listedAt: new Date('2026-06-01') }),
    await listServer(deps, { uptime: 0 }),
    await listServer(deps, { listedAt: new Date('2026-02-01') }),
    await listServer(deps, { listedAt: new Date('2026-03-01'), ...(low ? { _id: low } : {}) }),
    await listServer(deps, { listedAt: new Date('2026-03-01'), ...(high ? { _id: high } : {}) }),
  ];
  const [first, ...rest] = inOrder;
  if (first) await setCounters(deps, first, { '2026-11-21': 6 });
  for (const serverId of rest) await setCounters(deps, serverId, day);
  const removed = await listServer(deps, { removedAt: new Date('2026-11-20'), rankPosition: 7 });
  await setCounters(deps, removed, { '2026-11-21': 100 });

  expect(await recomputeRanks(deps)).toEqual({ servers: 6, moved: 5, weighed: 0 });
  expect(await placesOf(deps, [...inOrder, removed])).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(await recomputeRanks(deps)).toEqual({ servers: 6, moved: 0, weighed: 0 });
  expect(await rankedAt(deps)).toEqual(new Date('2026-11-21T12:00:00Z'));
});

it('leaves hidden servers out, behind all others, until they are listed again', async () => {
  const { deps, clock } = await rankingAt('2026-11-21T12:00:00Z');
  const [first, second] = [await listServer(deps), await listServer(deps)];
  const hidden = await listServer(deps, { hiddenAt: new Date('2026-11-20') });
  await setCounters(deps, hidden, { '2026-11-21': 100 });
  await setCounters(deps, first, { '2026-11-21': 1 });

  expect(await recomputeRanks(deps)).toEqual({ servers: 2, moved: 1, weighed: 0 });
  expect(await placesOf(deps, [first, second, hidden])).toEqual([1, 2, 3]);
  expect((await deps.servers.findOne({ _id: hidden }))?.ranked).toBeNull();
  await listServer(deps);
  await recomputeRanks(deps);
  expect(await placesOf(deps, [hidden])).toEqual([4]);
  await computeDays(deps);
  clock.set(new Date('2026-11-22T02:00:00Z'));
  await computeDays(deps);
  await recomputeRanks(deps);
  expect(await rankHistory(deps, first)).toEqual([{ day: '2026-11-21', rank: 1 }]);
  expect(await rankHistory(deps, hidden)).toEqual([]);

  expect(await unhideServer(deps, hidden, 'test')).toMatchObject({ hiddenAt: null });
  await recomputeRanks(deps);
  expect(await placesOf(deps, [hidden, first])).toEqual([1, 2]);
});

it('counts today and the 29 UTC days before, over up to three months', async () => {
  const { deps, clock } = await rankingAt('2027-03-01T00:00:00Z');
  const recent = await listServer(deps, { listedAt: new Date('2026-12-31') });
  const old = await listServer(deps);
  await setCounters(deps, old, { '2027-01-30': 100, '2027-01-31': 1, '2027-03-01': 1, '2026-02-10': 50 });
  await setCounters(deps, recent, { '2027-01-31': 1, '2027-02-28': 1, '2027-03-01': 1 });
  await recomputeRanks(deps);
  expect(await placesOf(deps, [recent, old])).toEqual([1, 2]);
  expect((await deps.servers.findOne({ _id: old }))?.ranked).toEqual({
    votesCount: 2,
    probedUptime: null,
  });

  clock.set(new Date('2027-02-28T23:59:59.999Z'));
  await recomputeRanks(deps);
  expect(await placesOf(deps, [recent, old])).toEqual([2, 1]);

  // In a leap year the 29 days before 1 March reach 1 February only.
  clock.set(new Date('2028-03-01T12:00:00Z'));
  await setCounters(deps, old, { '2028-01-31': 9, '2028-02-01': 1 });
  await setCounters(deps, recent, { '2028-02-29': 2 });
  await recomputeRanks(deps);
  expect(await placesOf(deps, [recent, old])).toEqual([1, 2]);
});

/** The formula once more, in plain code. */
function referencePlaces(
  servers: { id: ObjectId; votes: number; uptime: number | null; listedAt: number }[],
): ObjectId[] {
  return servers
    .toSorted(
      (a, b) =>
        b.votes - a.votes ||
        (b.uptime ?? -1) - (a.uptime ?? -1) ||
        a.listedAt - b.listedAt ||
        (a.id.toHexString() < b.id.toHexString() ? -1 : 1),
    )
    .map(({ id }) => id);
}

it('agrees with the formula in plain code on random listings', async () => {
  const { deps, clock } = await rankingAt('2026-03-05T12:00:00Z');
  const today = dayOf(clock.now());
  const server = fc.record({
    votes: fc.dictionary(fc.integer({ min: 0, max: 33 }).map(String), fc.integer({ min: 0, max: 3 })),
    uptime: fc.option(fc.constantFrom(0, 50, 99.5, 100)),
    listed: fc.integer({ min: 0, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(server, { minLength: 1, maxLength: 30 }), async (listing) => {
      await Promise.all([deps.servers.deleteMany({}), deps.voteCounters.deleteMany({})]);
      const expected = [];
      for (const { votes, uptime, listed } of listing) {
        const listedAt = new Date(Date.UTC(2026, 0, 1 + listed));
        const id = await listServer(deps, { uptime, listedAt });
        const days = Object.entries(votes).map(([ago, count]) => [addDays(today, -Number(ago)), count]);
        await setCounters(deps, id, Object.fromEntries(days));
        const counted = Object.entries(votes).filter(([ago]) => Number(ago) < 30);
        const sum = counted.reduce((total, [, count]) => total + count, 0);
        expected.push({ id, votes: sum, uptime, listedAt: listedAt.getTime() });
      }
      await recomputeRanks(deps);
      const places = await placesOf(deps, referencePlaces(expected));
      expect(places).toEqual(expected.map((_, i) => i + 1));
    }),
    { numRuns: 25 },
  );
});

it('stores a rank for each finished day, of the servers listed then, and leaves a gap after downtime', async () => {
  const { deps, clock } = await rankingAt('2026-11-02T00:30:00Z');
  const leaving = await listServer(deps, { removedAt: new Date('2026-11-02T00:10:00Z') });
  const staying = await listServer(deps);
  const late = await listServer(deps, { listedAt: new Date('2026-11-02T00:00:00Z') });
  await setCounters(deps, leaving, { '2026-11-01': 3 });
  await setCounters(deps, staying, { '2026-11-01': 2, '2026-11-02': 9 });
  await setCounters(deps, late, { '2026-11-02': 99 });
  const history = () => Promise.all([leaving, staying, late].map((id) => rankHistory(deps, id)));

  await recomputeRanks(deps);
  expect(await history()).toEqual([[], [], []]);
  clock.set(new Date('2026-11-02T23:50:00Z'));
  await computeDays(deps);
  await recomputeRanks(deps);
  const first = [[{ day: '2026-11-01', rank: 1 }], [{ day: '2026-11-01', rank: 2 }], []];
  expect(await history()).toEqual(first);

  // Stored once: a later recount does not change it.
  await setCounters(deps, staying, { '2026-11-01': 50 });
  await recomputeRanks(deps);
  expect(await history()).toEqual(first);

  clock.set(new Date('2026-11-05T01:00:00Z'));
  await computeDays(deps);
  await recomputeRanks(deps);
  expect(await history()).toEqual([
    [{ day: '2026-11-01', rank: 1 }],
    [
      { day: '2026-11-01', rank: 2 },
      { day: '2026-11-04', rank: 2 },
    ],
    [{ day: '2026-11-04', rank: 1 }],
  ]);
});

it('keeps a day’s places only when its uptime is computed, which after downtime is later than the first ranking', async () => {
  const { deps } = await rankingAt('2026-11-02T01:00:00Z');
  const since = { listedAt: new Date('2026-10-31T00:00:00Z') };
  const offline = await listServer(deps, { ...since, uptime: 100 });
  const online = await listServer(deps, { listedAt: new Date('2026-10-31T01:00:00Z') });
  const noon = new Date('2026-11-01T12:00:00Z');
  await insert(deps, [probe(offline, noon, { status: 'offline' }), probe(online, noon)]);

  await recomputeRanks(deps);
  expect(await rankHistory(deps, offline)).toEqual([]);
  await computeDays(deps);
  await recomputeRanks(deps);
  expect(await rankHistory(deps, online)).toEqual([{ day: '2026-11-01', rank: 1 }]);
  expect(await rankHistory(deps, offline)).toEqual([{ day: '2026-11-01', rank: 2 }]);
});

it('is dense from 1 however many run at once while servers come and go', async () => {
  const { deps } = await rankingAt('2026-11-21T12:00:00Z');
  const ids = await Promise.all(Array.from({ length: 40 }, () => listServer(deps)));
  await Promise.all([
    ...Array.from({ length: 6 }, () => recomputeRanks(deps)),
    deps.servers.updateMany({ _id: { $in: ids.slice(0, 10) } }, { $set: { removedAt: new Date() } }),
  ]);
  await recomputeRanks(deps);
  const places = (await placesOf(deps, ids.slice(10))).toSorted((a, b) => a - b);
  expect(places).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
});
