import { ObjectId, UUID } from 'mongodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { emptySums } from '../../src/history/daily-stats.ts';
import { heldVotes } from '../../src/moderation/held-evidence.ts';
import { countAttention, listenersDown, unusualFigures } from '../../src/moderation/needs-attention.ts';
import { findUnusualVotes, isUnusual } from '../../src/moderation/unusual-votes.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import type { Ballot } from '../support/casting.ts';
import { excludeVotes } from '../support/exclusions.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { accept, acceptAll } from '../votes/voting.ts';

let deps: AppDeps;
let clock: StoppedClock;
const now = new Date('2026-05-20T12:00:00Z');

beforeEach(async () => {
  clock = stoppedClock(now);
  deps = { ...(await testDeps()), clock };
});

async function addOne(name = 'Alpha'): Promise<ObjectId> {
  return new ObjectId(
    (await addServer(deps, { name, address: 'play.example.org', port: 25_565 }, 'test')).serverId,
  );
}

async function addListener(serverId: ObjectId, changes: object): Promise<void> {
  const { token: secret } = new VotifierListener();
  const settings = { protocol: 'votifier-v2', host: 'play.example.org', port: 8_192, secret } as const;
  await setListener(deps, serverId, { ...settings, serviceName: 'Tallyport' }, 'test');
  await deps.listeners.updateOne({ serverId }, { $set: changes });
}

test('an empty listing needs nothing', async () => {
  const none = { rows: [], more: false };
  expect(await listenersDown(deps)).toEqual({
    paused: none,
    unreachable: none,
    unfetched: none,
    failed: none,
  });
  expect(await unusualFigures(deps)).toEqual({
    unusualVotes: none,
    waitingVotes: none,
    playersJumped: none,
    playersDiffer: none,
  });
  expect(await heldVotes(deps)).toEqual({ rows: [], next: null });
  const counts = { held: 0, reviews: 0, complaints: 0, listeners: 0, servers: 0, figures: 0 };
  expect(await countAttention(deps)).toEqual(counts);
});

test('held votes are grouped by what made them suspicious, the newest first, and counted as groups', async () => {
  const servers = await Promise.all(['Alpha', 'Beta'].map(addOne));
  for (const serverId of servers) {
    const network = { cause: 'network', origin: 'the-hash' } as const;
    await openQuarantine(deps, serverId, 'One network.', network);
  }
  clock.move(HOUR);
  await openQuarantine(deps, servers[0] as ObjectId, 'Many.', { cause: 'new-players' });
  const { rows } = await heldVotes(deps);
  expect(rows.map(({ origin }) => origin)).toEqual([null, 'the-hash']);
  expect(rows[0]?.quarantines).toMatchObject([{ server: { name: 'Alpha' } }]);
  expect(rows[1]?.quarantines).toHaveLength(2);
  expect((await countAttention(deps)).held).toBe(2);
  // A group that does not fit begins the next page.
  const first = await heldVotes(deps, { limit: 2 });
  expect(first.rows.map(({ origin }) => origin)).toEqual([null]);
  const second = await heldVotes(deps, { limit: 2, from: first.next ?? undefined });
  expect(second).toMatchObject({ rows: [{ origin: 'the-hash', servers: 2 }], next: null });
});

test('pending reviews are counted', async () => {
  const serverId = await addOne();
  const write = async () =>
    new ObjectId((await writeReview(deps, { serverId, username: 'Steve', rating: 3 })).reviewId);
  const [first] = [await write(), await write()];
  await moderateReview(deps, first, 'approved', 'test');
  expect((await countAttention(deps)).reviews).toBe(1);
});

test('listeners paused for a fault and unreachable ones are shown with their waiting votes, the newest outage first', async () => {
  const [faulty, wished, dead, longDead, both] = (await Promise.all(
    ['A', 'B', 'C', 'D', 'E'].map(addOne),
  )) as [ObjectId, ObjectId, ObjectId, ObjectId, ObjectId];
  const pause = { at: after(now, -HOUR), by: 'tallyport', code: 'bad-signature' };
  const open = (hours: number) => ({
    failures: 3,
    tests: 1,
    openSince: after(now, -hours * HOUR),
    code: 'silent',
  });
  await addListener(faulty, { pause });
  await addListener(wished, { pause: { at: now, by: 'owner' } });
  await addListener(dead, { breaker: open(1) });
  await addListener(longDead, { breaker: open(2) });
  await addListener(both, { breaker: open(3), pause: { ...pause, at: now } });
  for (const name of ['One', 'Two'])
    await accept(deps, { serverId: dead, username: name, tokenId: new ObjectId() });

  const { paused, unreachable } = await listenersDown(deps);
  expect(paused.rows.map(({ server }) => server.name)).toEqual(['E', 'A']);
  expect(paused.rows[1]?.reason).toMatchObject({ code: 'bad-signature', since: after(now, -HOUR) });
  expect(unreachable.rows.map(({ server, waiting }) => [server.name, waiting])).toEqual([
    ['C', 2],
    ['D', 0],
  ]);
  await removeServer(deps, longDead, 'test');
  expect((await listenersDown(deps)).unreachable.rows).toHaveLength(1);
});

test('twenty rows of a kind are shown, and whether there are more', async () => {
  for (let i = 0; i < 21; i++) {
    await addListener(await addOne(`S${i}`), { pause: { at: now, by: 'tallyport', code: 'not-votifier' } });
  }
  const { paused } = await listenersDown(deps);
  expect(paused.rows).toHaveLength(20);
  expect(paused.more).toBe(true);
});

/** Once the counters, by which it goes, are written. */
async function findUnusual() {
  await deps.voteCounts.flush();
  return findUnusualVotes(deps);
}

test('votes that failed in the last day count, whenever they were cast', async () => {
  const serverId = await addOne();
  const fail = async (username: string, castAt: Date, failedAt: Date) => {
    const { vote } = await accept(deps, { serverId, username, tokenId: new ObjectId() });
    await deps.votes.updateOne(
      { serverId, _id: vote._id },
      {
        $set: {
          votedAt: castAt,
          'delivery.state': 'failed',
          'delivery.attempts': [{ at: after(castAt, MINUTE) }] as never,
          'delivery.events': [{ at: failedAt, kind: 'expired' }],
        },
      },
    );
  };
  await fail('One', after(now, -2 * HOUR), after(now, -HOUR));
  await fail('Two', after(now, -73 * HOUR), after(now, -2 * HOUR));
  await fail('Resent', after(now, -20 * DAY), after(now, -3 * HOUR));
  await fail('Old', after(now, -3 * DAY), after(now, -25 * HOUR));
  const { rows } = (await listenersDown(deps)).failed;
  expect(rows).toEqual([{ server: { _id: serverId, name: 'Alpha' }, votes: 3, newest: after(now, -HOUR) }]);
});

test('a comparison that is over an hour old is not shown', async () => {
  const serverId = await addOne();
  const differ = (minutes: number) =>
    deps.servers.updateOne(
      { _id: serverId },
      { $set: { playersDiffer: { at: after(now, -minutes * MINUTE), reported: 90, probed: 3 } } },
    );
  await differ(59);
  expect((await unusualFigures(deps)).playersDiffer.rows).toMatchObject([{ reported: 90, probed: 3 }]);
  await differ(60);
  expect((await unusualFigures(deps)).playersDiffer.rows).toEqual([]);
});

/** Votes of `count` players for a server, each with the token that `tokenOf` names. */
function ballots(count: number, serverId: ObjectId, tokenOf: (i: number) => ObjectId | null): Ballot[] {
  return Array.from({ length: count }, (_, i) => ({ serverId, username: `p${i}`, tokenId: tokenOf(i) }));
}

/** Four days on which our checks saw so many players. */
async function addPeaks(serverId: ObjectId, peakPlayers: number) {
  const probes = { ...emptySums(), onlineSeconds: 86_400, peakPlayers };
  const days = ['2026-05-15', '2026-05-16', '2026-05-17', '2026-05-18'];
  await deps.dailyStats.insertMany(
    days.map((day) => ({ _id: new ObjectId(), serverId, day, probes, reports: emptySums() })),
  );
}

describe('unusual votes', () => {
  test.each([
    [50, 0, false],
    [51, 0, true],
    [60, 6, false],
    [61, 6, true],
    [1_000, 100, false],
    [1_001, 100, true],
  ])('%i votes of one token with %i players: %s', (votes, players, unusual) => {
    expect(isUnusual(votes, players)).toBe(unusual);
  });

  test('of a day, of one token or of many, are found, and forgotten when they are usual again', async () => {
    const [flooded, shared, busy] = (await Promise.all(['Flooded', 'Shared', 'Busy'].map(addOne))) as [
      ObjectId,
      ObjectId,
      ObjectId,
    ];
    const tokenId = new ObjectId();
    await addPeaks(busy, 100);
    const one = () => tokenId;
    await acceptAll(deps, [
      ...ballots(55, flooded, one),
      ...ballots(55, busy, one),
      ...ballots(55, shared, (i) => (i % 2 ? tokenId : new ObjectId())),
    ]);
    clock.move(HOUR);
    expect(await findUnusual()).toEqual({ found: 2 });
    expect(await findUnusual()).toEqual({ found: 2 });
    const { rows } = (await unusualFigures(deps)).unusualVotes;
    const byName = rows.toSorted((a, b) => a.server.name.localeCompare(b.server.name));
    expect(byName).toMatchObject([
      { server: { name: 'Flooded' }, tokenId, votes: 55, players: 0 },
      { server: { name: 'Shared' }, tokenId, votes: 55, players: 0 },
    ]);

    const range = { since: after(now, -HOUR), until: after(now, MINUTE), tokenId, reason: 'Bought' };
    await excludeVotes(deps, { serverId: flooded, ...range }, 'test', { settledMs: 0 });
    await excludeVotes(deps, { serverId: shared, ...range }, 'test', { settledMs: 0 });
    expect(await findUnusual()).toEqual({ found: 0 });
    expect((await unusualFigures(deps)).unusualVotes.rows).toEqual([]);
  });

  test.each([
    ['the vote form', 60, 0],
    ['the vote form and a token together, neither of which is unusual alone', 30, 30],
  ])('of %s are found', async (_, web, api) => {
    const serverId = await addOne();
    const tokenId = new ObjectId();
    await acceptAll(
      deps,
      ballots(web + api, serverId, (i) => (i < web ? null : tokenId)),
    );
    clock.move(HOUR);
    expect(await findUnusual()).toEqual({ found: 1 });
    const { rows } = (await unusualFigures(deps)).unusualVotes;
    expect(rows).toMatchObject([
      { votes: 60, web, players: 0, ...(api > 0 ? { tokenId, ofToken: api } : {}) },
    ]);
    expect('tokenId' in (rows[0] ?? {})).toBe(api > 0);
  });

  test('do not include imported votes, which nobody cast here', async () => {
    const serverId = await addOne();
    await acceptAll(
      deps,
      ballots(60, serverId, () => null),
    );
    await deps.votes.updateMany({ serverId }, [{ $set: { seq: { $multiply: ['$seq', -1] } } }]);
    clock.move(HOUR);
    expect(await findUnusual()).toEqual({ found: 0 });
  });

  describe('of a server that reports a million players', () => {
    const million = { 'daily.peakPlayers': 1_000_000, 'current.onlinePlayers': 1_000_000 };
    const reported = { lastReport: { id: new UUID(), at: after(now, -MINUTE) }, firstReportAt: now };

    async function voted(votes: number, server: object): Promise<ObjectId> {
      const serverId = await addOne();
      await deps.servers.updateOne({ _id: serverId }, { $set: { ...million, ...server } });
      await acceptAll(
        deps,
        ballots(votes, serverId, () => new ObjectId()),
      );
      clock.move(HOUR);
      return serverId;
    }

    test('are found: its reports count for 50 players', async () => {
      await voted(501, reported);
      expect(await findUnusual()).toEqual({ found: 1 });
      expect((await unusualFigures(deps)).unusualVotes.rows).toMatchObject([{ votes: 501, players: 50 }]);
    });

    test('are usual up to ten for each of the 50, and where probes have seen more', async () => {
      await voted(500, reported);
      expect(await findUnusual()).toEqual({ found: 0 });
      const serverId = await voted(501, reported);
      expect(await findUnusual()).toEqual({ found: 1 });
      await addPeaks(serverId, 51);
      expect(await findUnusual()).toEqual({ found: 0 });
    });
  });

  test('of a server whose checks suddenly find 1,000 players are found: 25 of them count', async () => {
    const serverId = await addOne();
    await addPeaks(serverId, 15);
    const answer = { 'current.onlinePlayers': 1_000, 'probe.succeededAt': now, 'probe.checkedAt': now };
    await deps.servers.updateOne({ _id: serverId }, { $set: answer });
    await acceptAll(
      deps,
      ballots(301, serverId, () => new ObjectId()),
    );
    clock.move(HOUR);
    expect(await findUnusual()).toEqual({ found: 1 });
    expect((await unusualFigures(deps)).unusualVotes.rows).toMatchObject([{ votes: 301, players: 30 }]);
  });

  test('over midnight are one day', async () => {
    clock.set(new Date('2026-05-31T23:30:00Z'));
    const serverId = await addOne();
    const tokenId = new ObjectId();
    const all = ballots(60, serverId, () => tokenId);
    await acceptAll(deps, all.slice(0, 30));
    clock.move(HOUR);
    await acceptAll(deps, all.slice(30));
    expect(await findUnusual()).toEqual({ found: 1 });
    clock.move(DAY);
    expect(await findUnusual()).toEqual({ found: 0 });
  });
});
