import type { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { DAY } from '../../../src/platform/clock.ts';
import type { AppDeps } from '../../../src/process/app-deps.ts';
import { networkLimits } from '../../../src/votes/web/network-limits.ts';
import { networkKey } from '../../../src/votes/web/origin-keys.ts';
import { useOrigins } from '../../../src/votes/web/vote-origin.ts';
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
