import { describe, expect, test } from 'vitest';
import { after, DAY, SECOND } from '../../src/platform/clock.ts';
import { checkVote } from '../../src/votes/cast/cooldown.ts';
import { voteFigures } from '../../src/votes/vote-figures.ts';
import { endCooldown, findVote, listCountedVotes, listVotes } from '../../src/votes/vote-list.ts';
import { castVote } from '../support/casting.ts';
import { storedVote } from '../support/votes.ts';
import { accept, ballot, counted, flushCounts, refuse, votesOf, votingForAll } from './voting.ts';

const voting = await votingForAll();

describe('the number of the month', () => {
  test('each of 50 voters at once gets a number of its own, 1 to 50', async () => {
    const { serverId } = ballot('');
    const { deps } = voting.at('2026-05-04T10:00:00.000Z');
    const ends = await Promise.all(
      Array.from({ length: 50 }, (_, i) => accept(deps, ballot(`Player${i}`, serverId))),
    );
    const numbers = ends.map(({ monthlyVotes }) => monthlyVotes).toSorted((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    expect(await counted(deps, serverId)).toBe(50);
  });

  test('of votes that race on two processes is at most the number of votes, and both count', async () => {
    const { serverId } = ballot('');
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const other = { ...voting.other, clock };
    const ends = await Promise.all(
      Array.from({ length: 50 }, (_, i) => accept(i % 2 ? deps : other, ballot(`Player${i}`, serverId))),
    );
    for (const { monthlyVotes } of ends) {
      expect(monthlyVotes).toBeGreaterThan(0);
      expect(monthlyVotes).toBeLessThanOrEqual(50);
    }
    expect(await counted(deps, serverId)).toBe(50);
    expect((await accept(other, ballot('Next', serverId))).monthlyVotes).toBe(51);
  });

  test('begins anew with the UTC year', async () => {
    const { deps, clock } = voting.at('2026-12-31T23:59:59.999Z');
    const { serverId } = ballot('');
    await accept(deps, ballot('Alex', serverId));
    const last = await accept(deps, ballot('Steve', serverId));
    expect(last.monthlyVotes).toBe(2);
    clock.move(1);
    expect((await accept(deps, ballot('Notch', serverId))).monthlyVotes).toBe(1);
    expect((await refuse(deps, ballot('Steve', serverId))).nextVoteAt).toEqual(
      new Date('2027-01-01T23:59:59.999Z'),
    );
    await flushCounts();
    expect(await voteFigures(deps, serverId)).toEqual({
      votesCount: 3,
      monthlyVotes: 1,
      allTimeVotes: 3,
    });
    await flushCounts();
    const counters = await deps.voteCounters.find({ serverId }).sort({ month: 1 }).toArray();
    expect(counters.map(({ month, days }) => ({ month, days }))).toEqual([
      { month: '2026-12', days: { '31': 2 } },
      { month: '2027-01', days: { '01': 1 } },
    ]);
  });

  test('knows the leap day, and that most years have none', async () => {
    const { deps, clock } = voting.at('2028-02-29T12:00:00.000Z');
    const { serverId } = ballot('');
    const leap = await accept(deps, ballot('Steve', serverId));
    expect(leap.monthlyVotes).toBe(1);
    clock.move(DAY);
    const march = await accept(deps, ballot('Steve', serverId));
    expect(march.vote.votedAt).toEqual(new Date('2028-03-01T12:00:00.000Z'));
    expect(march.monthlyVotes).toBe(1);
    clock.set(new Date('2027-02-28T23:59:59.999Z'));
    await accept(deps, ballot('Alex', serverId));
    clock.move(1);
    expect((await accept(deps, ballot('Notch', serverId))).monthlyVotes).toBe(1);
    await flushCounts();
    const counters = await deps.voteCounters.find({ serverId }).sort({ month: 1 }).toArray();
    expect(counters.map(({ month, days }) => [month, days])).toEqual([
      ['2027-02', { '28': 1 }],
      ['2027-03', { '01': 1 }],
      ['2028-02', { '29': 1 }],
      ['2028-03', { '01': 1 }],
    ]);
  });
});

describe('a server’s figures', () => {
  test('votes_count spans today and the 29 UTC days before, from midnight to midnight', async () => {
    const { deps, clock } = voting.at('2026-05-31T00:00:00.000Z');
    const { serverId } = ballot('');
    const cast = async (when: string, username: string) => {
      clock.set(new Date(when));
      await accept(deps, ballot(username, serverId));
    };
    await cast('2026-05-01T23:59:59.999Z', 'TooOld');
    await cast('2026-05-02T00:00:00.000Z', 'Oldest');
    await cast('2026-05-30T12:00:00.000Z', 'Yesterday');
    await cast('2026-05-31T00:00:00.000Z', 'Midnight');
    await cast('2026-05-31T23:59:59.999Z', 'Last');
    await flushCounts();
    expect(await voteFigures(deps, serverId)).toEqual({
      votesCount: 4,
      monthlyVotes: 5,
      allTimeVotes: 5,
    });
    clock.move(1);
    await flushCounts();
    expect(await voteFigures(deps, serverId)).toEqual({
      votesCount: 3,
      monthlyVotes: 0,
      allTimeVotes: 5,
    });
  });

  test('span the end of February', async () => {
    const { deps, clock } = voting.at('2027-01-30T23:59:59.999Z');
    const { serverId } = ballot('');
    await accept(deps, ballot('TooOld', serverId));
    clock.move(1);
    await accept(deps, ballot('Oldest', serverId));
    clock.set(new Date('2027-03-01T08:00:00.000Z'));
    await flushCounts();
    expect((await voteFigures(deps, serverId)).votesCount).toBe(1);
  });

  test('are 0 for a server without votes, and another server’s votes are not among them', async () => {
    await accept(voting.one, ballot('Steve'));
    const { serverId } = ballot('');
    await flushCounts();
    expect(await voteFigures(voting.one, serverId)).toEqual({
      votesCount: 0,
      monthlyVotes: 0,
      allTimeVotes: 0,
    });
  });
});

describe('asking whether a player has voted', () => {
  test('is answered for any spelling, until exactly next_vote_at', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const { serverId } = ballot('');
    const nothing = { hasVoted: false, votedAt: null, nextVoteAt: null };
    expect(await checkVote(deps, serverId, 'Steve')).toEqual(nothing);
    await accept(deps, ballot('Steve', serverId));
    clock.move(DAY - 1);
    expect(await checkVote(deps, serverId, 'ＳＴＥＶＥ')).toEqual({
      hasVoted: true,
      votedAt: new Date('2026-05-04T10:00:00.000Z'),
      nextVoteAt: new Date('2026-05-05T10:00:00.000Z'),
    });
    expect(await checkVote(deps, serverId, 'Alex')).toEqual(nothing);
    expect(await checkVote(deps, ballot('').serverId, 'Steve')).toEqual(nothing);
    clock.move(1);
    expect(await checkVote(deps, serverId, 'Steve')).toEqual(nothing);
  });
});

describe('forgetting a vote', () => {
  test('lets its player vote again, keeps and counts the vote, and is written down', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const { serverId } = ballot('');
    const first = await accept(deps, ballot('Steve', serverId));
    expect(await endCooldown(deps, serverId, 'STEVE', 'test')).toBe(true);
    expect((await checkVote(deps, serverId, 'Steve')).hasVoted).toBe(false);
    clock.move(1);
    expect((await accept(deps, ballot('Steve', serverId))).monthlyVotes).toBe(2);
    await refuse(deps, ballot('Steve', serverId));
    expect((await votesOf(deps, serverId)).map(({ seq }) => seq)).toEqual([1, 2]);

    const entries = await deps.auditLog.find({ serverId }).toArray();
    expect(entries).toMatchObject([
      {
        by: 'test',
        action: 'vote.forget',
        details: { voteId: first.vote._id.toString(), username: 'Steve' },
      },
    ]);
  });

  test('changes nothing where no vote stands in the way', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const { serverId } = ballot('');
    expect(await endCooldown(deps, serverId, 'Steve', 'test')).toBe(false);
    await accept(deps, ballot('Steve', serverId));
    expect(await endCooldown(deps, ballot('').serverId, 'Steve', 'test')).toBe(false);
    expect(await endCooldown(deps, serverId, 'Alex', 'test')).toBe(false);
    clock.move(DAY);
    expect(await endCooldown(deps, serverId, 'Steve', 'test')).toBe(false);
    expect(await deps.auditLog.countDocuments({ serverId })).toBe(0);
  });

  test('of 20 casts at once after it, one is accepted', async () => {
    const { serverId } = ballot('');
    await accept(voting.one, ballot('Steve', serverId));
    await endCooldown(voting.one, serverId, 'Steve', 'test');
    const ends = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        castVote(i % 2 ? voting.one : voting.other, ballot('Steve', serverId)),
      ),
    );
    expect(ends.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    expect(await votesOf(voting.one, serverId)).toHaveLength(2);
  });
});

describe('a server’s votes in a list', () => {
  test('stand newest first, by state, up to a limit; one is found by its id', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const { serverId } = ballot('');
    for (const username of ['Alex', 'Steve', 'Notch']) {
      await accept(deps, ballot(username, serverId));
      clock.move(1_000);
    }
    const names = async (filter: Parameters<typeof listVotes>[2]) =>
      (await listVotes(deps, serverId, filter)).map(({ username }) => username);
    expect(await names({ limit: 2 })).toEqual(['Notch', 'Steve']);
    expect(await names({ limit: 10, state: 'none' })).toEqual(['Notch', 'Steve', 'Alex']);
    expect(await names({ limit: 10, state: 'waiting' })).toEqual([]);

    const [newest] = await listVotes(deps, serverId, { limit: 1 });
    expect(newest && (await findVote(deps, newest._id))).toEqual(newest);
  });

  test('that count are listed in full although the newest ones are excluded, of the newest 5,000', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const { serverId } = ballot('');
    const at = (seconds: number) => after(clock.now(), seconds * SECOND);
    const excluded = (n: number) => storedVote(serverId, `bot ${n}`, at(n), { excludedAt: clock.now() });
    await deps.votes.insertMany(['Steve', 'Alex'].map((name, n) => storedVote(serverId, name, at(-n))));
    await deps.votes.insertMany(Array.from({ length: 4_999 }, (_, n) => excluded(n + 1)));
    const names = async (limit: number) =>
      (await listCountedVotes(deps, serverId, limit)).map(({ username }) => username);
    expect(await names(1)).toEqual(['Steve']);
    expect(await names(2)).toEqual(['Steve']);
    await deps.votes.deleteMany({ serverId, username: /^bot [1-9]$/ });
    expect(await names(2)).toEqual(['Steve', 'Alex']);
  });
});
