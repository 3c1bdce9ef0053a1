import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { after, HOUR, SECOND } from '../../src/platform/clock.ts';
import { markDone, startOfDay } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { allowVotes } from '../../src/ranking/evidence/allow-votes.ts';
import { rankVotesByDay, sumOfDays } from '../../src/ranking/evidence/rank-votes.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { recountVotes } from '../../src/votes/recount-votes.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { playerHash } from '../../src/votes/web/origin-keys.ts';
import { useOrigins } from '../../src/votes/web/vote-origin.ts';
import { NOTHING } from '../history/samples.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { storedVote } from '../support/votes.ts';
import { computeDays, listServer, placesOf, setCounters } from './ranked-servers.ts';

const TODAY = '2026-11-21';
const YESTERDAY = '2026-11-20';

/** A platform at an hour of today; votes are weighed from the 1st on. */
async function rankingAt(time = '12:00:00') {
  const clock = stoppedClock(new Date(`${TODAY}T${time}Z`));
  const deps = { ...(await testDeps()), clock };
  await markDone(deps, 'weigh-votes', '2026-11-01');
  return { deps, clock };
}

type Cast = { vote?: Partial<Vote>; network?: string };

/** Inserts votes of a day with their origins, and counts them. */
async function cast(deps: AppDeps, serverId: ObjectId, day: string, votes: [name: string, of?: Cast][]) {
  const at = after(startOfDay(day), HOUR);
  await deps.votes.insertMany(
    votes.map(([name, of], i) =>
      storedVote(serverId, name, after(at, i * SECOND), { source: 'web', ...of?.vote }),
    ),
  );
  const then = { ...deps, clock: { now: () => at } };
  for (const [name, { network } = {}] of votes) {
    if (!network) continue;
    const subject = { serverId, player: playerHash(deps, name), playerStatus: 'new' as const };
    await useOrigins(then, { address: network, account: null }, subject, {
      players: 300,
      newPlayers: 300,
      newPlayersOverAll: 300,
    });
  }
  await recountVotes(deps, serverId, [day]);
}

const names = (count: number, of: (i: number) => Cast = () => ({}), prefix = 'name') =>
  Array.from({ length: count }, (_, i): [string, Cast] => [`${prefix}${i}`, of(i)]);

/** A day on which our checks saw so many players. */
async function addPeak({ dailyStats }: AppDeps, serverId: ObjectId, day: string, peakPlayers: number) {
  const probes = { ...NOTHING, onlineSeconds: 86_400, peakPlayers };
  await dailyStats.insertOne({ _id: new ObjectId(), serverId, day, probes, reports: NOTHING });
}

const rankedOf = async ({ servers }: AppDeps, _id: ObjectId) => (await servers.findOne({ _id }))?.ranked;

it('lets 60 votes of a day behind one network weigh like a handful, and a household of four in full', async () => {
  const { deps } = await rankingAt();
  const [bought, honest] = [await listServer(deps), await listServer(deps)];
  await cast(
    deps,
    bought,
    YESTERDAY,
    names(60, () => ({ network: '203.0.113.7' })),
  );
  // Four at home, and others elsewhere: nine votes of six networks.
  await cast(deps, honest, YESTERDAY, [
    ...names(4, () => ({ network: '198.51.100.20' })),
    ...names(5, (i) => ({ network: `192.0.${i}.2` }), 'other'),
  ]);
  expect(await recomputeRanks(deps)).toEqual({ servers: 2, moved: 1, weighed: 2 });
  expect(await placesOf(deps, [honest, bought])).toEqual([1, 2]);
  expect(await rankedOf(deps, bought)).toEqual({ votesCount: 60, rankVotes: 8, probedUptime: null });
  expect(await rankedOf(deps, honest)).toEqual({ votesCount: 9, probedUptime: null });
  // Nothing changed: a finished day is weighed once.
  expect(await recomputeRanks(deps)).toEqual({ servers: 2, moved: 0, weighed: 0 });
  const sum = sumOfDays(await rankVotesByDay(deps, bought, TODAY));
  expect(sum).toMatchObject({ votes: 60, rankVotes: 8, network: 56, waiting: 0 });
});

it('weighs 50 networks and 2,000 addresses by the players that were seen, and shows what waits', async () => {
  const { deps } = await rankingAt();
  const [few, many, unseen] = [await listServer(deps), await listServer(deps), await listServer(deps)];
  for (const serverId of [few, many]) await addPeak(deps, serverId, YESTERDAY, 12);
  await cast(
    deps,
    few,
    YESTERDAY,
    names(150, (i) => ({ network: `203.0.${Math.floor(i / 3)}.7` })),
  );
  await cast(deps, many, YESTERDAY, names(2_000));
  await cast(deps, unseen, YESTERDAY, names(75));
  await recomputeRanks(deps);
  expect(await rankedOf(deps, few)).toMatchObject({ votesCount: 150, rankVotes: 44.4, waiting: 30 });
  expect(await rankedOf(deps, many)).toMatchObject({
    votesCount: 2_000,
    rankVotes: 44.4,
    waiting: 1_880,
  });
  // Where no check sees players, as many new names count in full as with 25 players.
  expect(await rankedOf(deps, unseen)).toEqual({ votesCount: 75, probedUptime: null });
});

it('knows regulars by their counted votes, here or imported, and counts imported votes in full', async () => {
  const { deps } = await rankingAt();
  const serverId = await listServer(deps);
  await addPeak(deps, serverId, YESTERDAY, 2);
  const imported = (seq: number) => names(40, () => ({ vote: { seq } }), 'imported');
  for (let ago = 1; ago <= 5; ago++) await cast(deps, serverId, `2026-11-${15 - ago}`, imported(-ago));
  const excluded = { excludedAt: new Date(), excludedBy: [new ObjectId()] };
  // 40 names that were imported, and 10 whose earlier votes are excluded: they look like regulars.
  await cast(deps, serverId, '2026-11-14', [
    ...names(10, () => ({ vote: { seq: 5, ...excluded } }), 'bot'),
    ...names(10, () => ({ vote: { seq: 4, ...excluded } }), 'bot'),
  ]);
  await cast(deps, serverId, YESTERDAY, [...imported(1), ...names(30, () => ({ vote: { seq: 6 } }), 'bot')]);
  await recomputeRanks(deps);
  const days = await rankVotesByDay(deps, serverId, TODAY);
  expect(
    days
      .filter(({ votes }) => votes > 0)
      .slice(0, -1)
      .every((one) => one.rankVotes === one.votes),
  ).toBe(true);
  // 40 and 20 bots that count as regulars, 10 new ones among the 20 that count in full; 50 a day do not wait.
  expect(days.at(-2)).toMatchObject({ votes: 70, rankVotes: 50, waiting: 20, players: 2 });
});

it('counts votes of the API by names that voted on the page three times; of others 20 a day until they are allowed', async () => {
  const { deps } = await rankingAt();
  const serverId = await listServer(deps);
  await addPeak(deps, serverId, YESTERDAY, 15);
  const excluded = { excludedAt: new Date(), excludedBy: [new ObjectId()] };
  await cast(deps, serverId, '2026-11-14', [
    ...names(10, () => ({ vote: { seq: 1, pageVotes: 1, ...excluded } }), 'bot'),
    ...[-1, -2, -3].flatMap((seq) => names(5, () => ({ vote: { seq } }), 'imported')),
  ]);
  const api = (pageVotes?: number) => () => ({
    vote: { source: 'api' as const, seq: 4, ...(pageVotes ? { pageVotes } : {}) },
  });
  await cast(deps, serverId, YESTERDAY, [
    ...names(30, api(3), 'known'),
    ...names(5, api(), 'imported'),
    ...names(10, api(3), 'bot'),
    ...names(50, api(), 'invented'),
    ...names(50, api(2), 'hardly'),
  ]);
  await recomputeRanks(deps);
  // 35 known names, of which the five imported ones are regulars through it, and 20 of 110 others. Of the 50 new names,
  // 45 count in full with 15 players.
  const [yesterday] = (await rankVotesByDay(deps, serverId, YESTERDAY)).slice(-1);
  expect(yesterday).toMatchObject({ votes: 145, rankVotes: 50.5, newcomers: 5, unknown: 90, waiting: 0 });
  expect(await rankedOf(deps, serverId)).toMatchObject({ waiting: 90 });

  await allowVotes(deps, serverId, { votes: 145, reason: 'Its website casts them.' }, 'op@example.org');
  await recomputeRanks(deps);
  expect(await rankedOf(deps, serverId)).toEqual({ votesCount: 160, probedUptime: null });
});

it('has room for more than 25 players only once they were seen for a while', async () => {
  const { deps } = await rankingAt();
  const serverId = await listServer(deps);
  for (let day = 13; day < 20; day++) await addPeak(deps, serverId, `2026-11-${day}`, 15);
  await addPeak(deps, serverId, YESTERDAY, 1_000);
  await cast(deps, serverId, YESTERDAY, names(100));
  await recomputeRanks(deps);
  const [yesterday] = (await rankVotesByDay(deps, serverId, YESTERDAY)).slice(-1);
  expect(yesterday).toMatchObject({ votes: 100, rankVotes: 91, newcomers: 10, players: 30, seen: 1_000 });
});

it('counts more of a network if they were cast with old accounts', async () => {
  const { deps } = await rankingAt();
  const serverId = await listServer(deps);
  await cast(
    deps,
    serverId,
    YESTERDAY,
    names(10, () => ({ network: '203.0.113.7' })),
  );
  await deps.voteOrigins.updateMany(
    { kind: 'network' },
    { $set: { 'players.$[one].established': true } } as never,
    {
      arrayFilters: [{ 'one.player': { $in: ['name3', 'name9'].map((name) => playerHash(deps, name)) } }],
    },
  );
  await recomputeRanks(deps);
  expect(await rankedOf(deps, serverId)).toMatchObject({ votesCount: 10, rankVotes: 6.4 });
});

it('counts in full the votes of days before the rule, and in a listing with votes it begins the next day', async () => {
  const clock = stoppedClock(new Date(`${TODAY}T12:00:00Z`));
  const deps = { ...(await testDeps()), clock };
  const serverId = await listServer(deps);
  for (const day of [YESTERDAY, TODAY])
    await cast(
      deps,
      serverId,
      day,
      names(50, () => ({ network: '203.0.113.7' }), day),
    );
  expect(await recomputeRanks(deps)).toMatchObject({ weighed: 0 });
  expect(await rankedOf(deps, serverId)).toEqual({ votesCount: 100, probedUptime: null });
  clock.set(new Date('2026-11-22T12:00:00Z'));
  await cast(
    deps,
    serverId,
    '2026-11-22',
    names(50, () => ({ network: '203.0.113.7' }), 'new'),
  );
  expect(await recomputeRanks(deps)).toMatchObject({ weighed: 1 });
  expect(await rankedOf(deps, serverId)).toEqual({ votesCount: 150, rankVotes: 108, probedUptime: null });
});

it('weighs today again when its votes grew, and yesterday once more when its players are known', async () => {
  const { deps, clock } = await rankingAt('03:00:00');
  const serverId = await listServer(deps);
  await deps.servers.updateOne(
    { _id: serverId },
    {
      $set: {
        current: { onlinePlayers: 8, maxPlayers: 20, motd: '', version: '', playersSource: 'probes' },
        'probe.checkedAt': clock.now(),
        'probe.succeededAt': clock.now(),
        'probe.status': 'online',
      },
    },
  );
  await cast(deps, serverId, TODAY, names(34));
  expect(await recomputeRanks(deps)).toMatchObject({ weighed: 1 });
  expect(await rankedOf(deps, serverId)).toMatchObject({ votesCount: 34, rankVotes: 25 });
  await deps.votes.insertOne(storedVote(serverId, 'late', clock.now(), { source: 'web' }));
  await setCounters(deps, serverId, { [TODAY]: 35 });
  expect(await recomputeRanks(deps)).toMatchObject({ weighed: 1 });
  expect(await recomputeRanks(deps)).toMatchObject({ weighed: 0 });
  // A vote that was counted after the last ranking counts with the next one.
  await setCounters(deps, serverId, { [TODAY]: 36 });
  expect((await rankVotesByDay(deps, serverId, TODAY)).at(-1)).toMatchObject({
    later: 1,
    rankVotes: 25.1,
  });

  await addPeak(deps, serverId, TODAY, 20);
  clock.set(new Date('2026-11-22T00:05:00Z'));
  await setCounters(deps, serverId, { [TODAY]: 35 });
  expect(await recomputeRanks(deps)).toMatchObject({ weighed: 0 });
  clock.set(new Date('2026-11-22T00:15:00Z'));
  await computeDays(deps);
  expect(await recomputeRanks(deps)).toMatchObject({ weighed: 1 });
  expect(await recomputeRanks(deps)).toMatchObject({ weighed: 0 });
  expect(await rankedOf(deps, serverId)).toEqual({ votesCount: 35, probedUptime: 100 });
});

it('weighs a day again after votes of it were excluded', async () => {
  const { deps } = await rankingAt();
  const serverId = await listServer(deps);
  await addPeak(deps, serverId, YESTERDAY, 12);
  await cast(deps, serverId, YESTERDAY, names(200));
  await recomputeRanks(deps);
  expect(await rankedOf(deps, serverId)).toMatchObject({ rankVotes: 44.4, waiting: 80 });
  const by = { usernameKey: { $gte: 'name5' } };
  const excluded = { excludedAt: new Date(), excludedBy: [new ObjectId()] };
  const { modifiedCount } = await deps.votes.updateMany({ serverId, ...by }, { $set: excluded });
  await recountVotes(deps, serverId, [YESTERDAY]);
  expect(await recomputeRanks(deps)).toMatchObject({ weighed: 1 });
  const left = 200 - modifiedCount;
  expect(await rankedOf(deps, serverId)).toMatchObject({ votesCount: left, rankVotes: 44.4 });

  // So few votes always count in full.
  const rest = await deps.votes.find({ serverId, excludedAt: null }).skip(3).toArray();
  const ids = { $in: rest.map(({ _id }) => _id) };
  await deps.votes.updateMany({ serverId, _id: ids }, { $set: excluded });
  await recountVotes(deps, serverId, [YESTERDAY]);
  await recomputeRanks(deps);
  expect(await rankedOf(deps, serverId)).toEqual({ votesCount: 3, probedUptime: null });
});

it('counts what waits when an operator allows it, also while a ranking runs', async () => {
  const { deps } = await rankingAt();
  const serverId = await listServer(deps);
  await addPeak(deps, serverId, YESTERDAY, 12);
  await cast(deps, serverId, YESTERDAY, names(500));
  await recomputeRanks(deps);
  expect(await rankedOf(deps, serverId)).toMatchObject({ rankVotes: 44.4, waiting: 380 });

  const decide = { votes: '600', reason: 'A streamer played here.' };
  // The ranking has read the counter, and the server before the decision.
  const bulkWrite = deps.voteCounters.bulkWrite.bind(deps.voteCounters);
  const slow = Object.assign(Object.create(deps.voteCounters), {
    async bulkWrite(...args: Parameters<typeof bulkWrite>) {
      await allowVotes(deps, serverId, decide, 'op@example.org');
      return bulkWrite(...args);
    },
  });
  await deps.voteCounters.updateMany({ serverId }, { $unset: { weighed: 1 } });
  await recomputeRanks({ ...deps, voteCounters: slow });
  await recomputeRanks(deps);
  expect(await rankedOf(deps, serverId)).toEqual({ votesCount: 500, probedUptime: null });
  expect(await deps.auditLog.findOne({ action: 'rank.allow' })).toMatchObject({
    by: 'op@example.org',
    details: { votes: 600, reason: 'A streamer played here.' },
  });

  await allowVotes(deps, serverId, { votes: 0, reason: 'They were bought.' }, 'op@example.org');
  await recomputeRanks(deps);
  expect(await rankedOf(deps, serverId)).toMatchObject({ rankVotes: 44.4, waiting: 380 });
  await expect(allowVotes(deps, serverId, { votes: 'many', reason: 'x' }, 'op')).rejects.toThrow();
  expect(await allowVotes(deps, new ObjectId(), decide, 'op')).toBeNull();
});

it('a ranking of the previous version beside it changes nothing that the next one does not repair', async () => {
  const { deps } = await rankingAt();
  const [bought, honest] = [await listServer(deps), await listServer(deps)];
  await cast(
    deps,
    bought,
    YESTERDAY,
    names(50, () => ({ network: '203.0.113.7' })),
  );
  await cast(deps, honest, YESTERDAY, names(9));
  await recomputeRanks(deps);
  await deps.servers.updateOne(
    { _id: bought },
    { $set: { rankPosition: 1, ranked: { votesCount: 50, probedUptime: null } } },
  );
  await deps.servers.updateOne({ _id: honest }, { $set: { rankPosition: 2 } });
  expect(await recomputeRanks(deps)).toMatchObject({ moved: 2, weighed: 0 });
  expect(await rankedOf(deps, bought)).toMatchObject({ rankVotes: 8 });
});
