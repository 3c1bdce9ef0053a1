import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { DAY } from '../../../src/platform/clock.ts';
import type { AppDeps } from '../../../src/process/app-deps.ts';
import {
  MOST_SERVERS_OF_ACCOUNT,
  MOST_VOTES,
  MOST_VOTES_FACTOR,
  networkLimits,
} from '../../../src/votes/web/network-limits.ts';
import { networkKey, originsOf, playerHash } from '../../../src/votes/web/origin-keys.ts';
import { type PlayerStatus, useOrigins } from '../../../src/votes/web/vote-origin.ts';
import { listServersAt } from '../../support/servers.ts';
import { type StoppedClock, stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';
import { accountOf, type Outcome, voteAs } from '../../support/web-voters.ts';

type Open = { deps: AppDeps & { clock: StoppedClock }; servers: ObjectId[] };

async function open(servers = 1, env: Record<string, string> = {}): Promise<Open> {
  const clock = stoppedClock(new Date('2026-11-21T10:00:00Z'));
  const deps = { ...(await testDeps(env)), clock };
  const ports = Array.from({ length: servers }, (_, i) => i + 1);
  return { deps, servers: await listServersAt(deps, ports, 'a-token-of-a-test') };
}

const HOME = '203.0.113.7';

/** Votes one after another; how many had each outcome. */
async function tally(votes: (() => Promise<Outcome>)[]): Promise<Partial<Record<Outcome, number>>> {
  const counts: Partial<Record<Outcome, number>> = {};
  for (const vote of votes) {
    const outcome = await vote();
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

const first = ({ servers }: Open) => servers[0] as ObjectId;

/** Players `P<from>` and so on vote from one address, each with an account of an age in days if `days` is given. */
function players(
  o: Open,
  from: number,
  many: number,
  { days, address = HOME }: { days?: number; address?: string } = {},
) {
  return tally(
    Array.from({ length: many }, (_, i) => () => {
      const account = days === undefined ? null : accountOf(o.deps, `p${from + i}@gmail.com`, days);
      return voteAs(o.deps, first(o), `P${from + i}`, { address, account });
    }),
  );
}

describe('the players of one network', () => {
  it('are four new ones for a server and day, whether or not they have young accounts', async () => {
    const o = await open();
    expect(await players(o, 0, 3)).toEqual({ counted: 3 });
    expect(await players(o, 3, 10, { days: 6 })).toEqual({ counted: 1, 'too-many-players': 9 });
  });

  it('are a class of 25 with established accounts at once, and never more than 30', async () => {
    const o = await open();
    expect(await players(o, 0, 25, { days: 8 })).toEqual({ counted: 25 });
    // Beside them visitors still have their places.
    expect(await players(o, 100, 5)).toEqual({ counted: 4, 'too-many-players': 1 });
    expect(await players(o, 200, 5, { days: 8 })).toEqual({ counted: 1, 'too-many-players': 4 });
  });

  it('grow with those who come back: voted on three earlier days of the last 30', async () => {
    const o = await open();
    for (let day = 0; day < 3; day += 1) {
      expect(await players(o, 0, 5)).toEqual({ counted: 4, 'too-many-players': 1 });
      o.deps.clock.move(DAY);
    }
    expect(await players(o, 0, 10)).toEqual({ counted: 8, 'too-many-players': 2 });
    // After a month without votes they are new again.
    o.deps.clock.move(31 * DAY);
    expect(await players(o, 0, 10)).toEqual({ counted: 4, 'too-many-players': 6 });
  });

  it('prove nothing with held votes, and a player proves nothing on another network', async () => {
    const o = await open(3);
    const vote = (server: number, name: string, address = HOME) =>
      voteAs(o.deps, o.servers[server] as ObjectId, name, { address, account: null });
    for (let day = 0; day < 3; day += 1) {
      for (let n = 0; n < 8; n += 1) await vote(n % 2, `P${n}`);
      o.deps.clock.move(DAY);
    }
    // Six of the eight were counted each day; the two held ones are new on the fourth day.
    const held = await o.deps.votes.countDocuments({ quarantinedAt: { $exists: true } });
    expect(held).toBe(6);
    expect(await o.deps.returningPlayers.countDocuments()).toBe(6);
    const there = (n: number) => vote(2, `P${n}`, '198.51.100.1');
    expect(await tally([0, 1, 2, 3, 4].map((n) => () => there(n)))).toEqual({
      counted: 4,
      'too-many-players': 1,
    });
  });

  it('are held over all servers from the seventh new one on, and established accounts are not', async () => {
    const o = await open(3);
    const names = Array.from({ length: 8 }, (_, n) => n);
    const vote = (n: number, account: ReturnType<typeof accountOf>) =>
      voteAs(o.deps, o.servers[n % 3] as ObjectId, `P${n}`, { address: HOME, account });
    expect(await tally(names.map((n) => () => vote(n, null)))).toEqual({ counted: 6, held: 2 });
    const quarantine = await o.deps.voteExclusions.findOne({ state: 'quarantined' });
    expect(quarantine).toMatchObject({
      cause: 'network',
      origin: networkKey(o.deps, HOME),
      reason: 'One network voted as more than 6 new players in a day.',
    });
    expect(await vote(20, accountOf(o.deps, 'ann@gmail.com'))).toBe('counted');
  });

  it('are four times as many in an IPv6 /48', async () => {
    const o = await open();
    const from = (n: number) =>
      voteAs(o.deps, first(o), `P${n}`, { address: `2001:db8:7:${n}::1`, account: null });
    const votes = Array.from({ length: 18 }, (_, n) => () => from(n));
    const { 'too-many-players': refused } = await tally(votes);
    expect(refused).toBe(2);
  });
});

describe('an account', () => {
  const vote = (o: Open, username: string, email: string, days = 8, address = HOME) =>
    voteAs(o.deps, first(o), username, { address, account: accountOf(o.deps, email, days) });

  it('is one player of a server and day on all its networks, and so are its + tags and dots', async () => {
    const o = await open();
    expect(await vote(o, 'Ann', 'ann.b@gmail.com')).toBe('counted');
    expect(await vote(o, 'Ben', 'ann.b@gmail.com', 8, '198.51.100.1')).toBe('too-many-players');
    expect(await vote(o, 'Ben', 'annb+2@googlemail.com')).toBe('too-many-players');
    // What was refused used up nothing.
    const network = await o.deps.voteOrigins.findOne({ kind: 'network' });
    expect(network?.players).toHaveLength(1);
    o.deps.clock.move(DAY);
    expect(await vote(o, 'Ben', 'ann.b@gmail.com')).toBe('counted');
  });

  it('makes no name one that returns: its names are new without it', async () => {
    const o = await open(9);
    const account = accountOf(o.deps, 'farm@gmail.com', 30);
    const voter = { address: HOME, account };
    for (let day = 0; day < 3; day += 1) {
      const farmed = Array.from(
        { length: 8 },
        (_, n) => () => voteAs(o.deps, o.servers[n + 1] as ObjectId, `P${n}`, voter),
      );
      expect(await tally(farmed)).toEqual({ counted: 8 });
      o.deps.clock.move(DAY);
    }
    expect(await players(o, 0, 8)).toEqual({ counted: 4, 'too-many-players': 4 });
  });

  it('marks its player in the day of the network, and nobody else does', async () => {
    const o = await open();
    await vote(o, 'Ann', 'ann@gmail.com');
    await voteAs(o.deps, first(o), 'Ben', { address: HOME, account: null });
    const network = await o.deps.voteOrigins.findOne({ kind: 'network' });
    expect(network?._id).toBe(`${networkKey(o.deps, HOME)}:2026-11-21`);
    expect(network?.players).toEqual([
      { serverId: first(o), player: expect.any(String), established: true },
      { serverId: first(o), player: expect.any(String) },
    ]);
  });

  it('needs a proof of work until it is 7 days old', async () => {
    const o = await open();
    expect(accountOf(o.deps, 'ann@example.org', 6.9)).toBeNull();
    expect(accountOf(o.deps, 'ann@example.org', 7)).toEqual({
      mailbox: 'ann@example.org',
      domain: 'example.org',
    });
  });
});

it('of many votes of one network at the same moment, no more are allowed than one after another', async () => {
  const o = await open();
  const limits = networkLimits(o.deps.config);
  const uses = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      useOrigins(
        o.deps,
        { address: HOME, account: null },
        { serverId: first(o), player: `p${n}`, playerStatus: 'new' },
        limits,
      ),
    ),
  );
  expect(uses.filter(({ refusedBy }) => refusedBy === null)).toHaveLength(4);
  expect(uses.filter(({ refusedBy }) => refusedBy === 'new-players')).toHaveLength(16);
});

describe('the votes of one day over all servers', () => {
  const used =
    (o: Open, address: string, email?: string) =>
    async (n: number, playerStatus: PlayerStatus = 'new') =>
      (
        await useOrigins(
          o.deps,
          { address, account: email === undefined ? null : accountOf(o.deps, email) },
          { serverId: new ObjectId(), player: playerHash(o.deps, `p${n}`), playerStatus },
          networkLimits(o.deps.config),
        )
      ).refusedBy;

  /** Fills the day of an origin with votes for other servers, as `established` or `returning` says. */
  async function fill(
    o: Open,
    address: string,
    votes: number,
    as: object = {},
    { email, kind = email ? 'user' : 'network' }: { email?: string; kind?: string } = {},
  ) {
    const account = email === undefined ? null : accountOf(o.deps, email);
    const day = o.deps.clock.now().toISOString().slice(0, 10);
    const players = Array.from({ length: votes }, () => ({ serverId: new ObjectId(), player: 'x', ...as }));
    const origin = originsOf(o.deps, { address, account }).find((one) => one.kind === kind);
    const expiresAt = new Date(o.deps.clock.now().getTime() + 30 * DAY);
    const update = { $set: { kind: origin?.kind, expiresAt }, $push: { players: { $each: players } } };
    await o.deps.voteOrigins.updateOne({ _id: `${origin?.id}:${day}` }, update as object, { upsert: true });
  }

  it('end for new players first, then for players who return, then for accounts', async () => {
    const o = await open();
    await fill(o, HOME, MOST_VOTES.new);
    const voter = { address: HOME, account: null };
    expect(await used(o, HOME)(1)).toBe('votes-of-network');
    expect(await voteAs(o.deps, first(o), 'Ann', voter)).toBe('too-many-players');
    expect(await used(o, HOME)(1, 'returning')).toBeNull();
    await fill(o, HOME, MOST_VOTES.visitors - MOST_VOTES.new - 1, { returning: true });
    expect(await used(o, HOME)(2, 'returning')).toBe('votes-of-network');
    expect(await players(o, 0, 1, { days: 8 })).toEqual({ counted: 1 });
    await fill(o, HOME, MOST_VOTES.all - MOST_VOTES.visitors - 1, { established: true });
    expect(await players(o, 1, 1, { days: 8 })).toEqual({ 'too-many-players': 1 });
  });

  it('of an account are for at most 100 servers', async () => {
    const o = await open();
    await fill(o, HOME, MOST_SERVERS_OF_ACCOUNT - 1, {}, { email: 'ann@gmail.com' });
    const ann = used(o, HOME, 'ann@gmail.com');
    expect(await ann(1, 'established')).toBeNull();
    expect(await ann(1, 'established')).toBe('votes-of-account');
  });

  it('of one IPv6 /64 leave room for the others of its /48', async () => {
    const o = await open();
    // One /64 has used up the votes of its new players: they count in the /48 too.
    await fill(o, '2001:db8:1:1::1', MOST_VOTES.new);
    await fill(o, '2001:db8:1:1::1', MOST_VOTES.new, {}, { kind: 'site' });
    expect(await used(o, '2001:db8:1:1::1')(1)).toBe('votes-of-network');
    expect(await used(o, '2001:db8:1:2::1')(1)).toBeNull();
    await fill(o, '2001:db8:1:1::1', MOST_VOTES.new * (MOST_VOTES_FACTOR - 1) - 1, {}, { kind: 'site' });
    expect(await used(o, '2001:db8:1:2::1')(2)).toBe('votes-of-network');
  });
});

it('of many votes of an IPv6 /48 at the same moment, those that its limit refuses leave no trace in their networks', async () => {
  const o = await open();
  const uses = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      useOrigins(
        o.deps,
        { address: `2001:db8:1:${n}::1`, account: null },
        { serverId: first(o), player: `p${n}`, playerStatus: 'new' },
        networkLimits(o.deps.config),
      ),
    ),
  );
  expect(uses.filter(({ refusedBy }) => refusedBy === null)).toHaveLength(16);
  const networks = { kind: 'network' as const, 'players.0': { $exists: true } };
  expect(await o.deps.voteOrigins.countDocuments(networks)).toBe(16);
});
