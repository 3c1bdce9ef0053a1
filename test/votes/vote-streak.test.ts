import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { voteStreak } from '../../src/votes/vote-streak.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { storedVote } from '../support/votes.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
const ago = (hours: number) => after(NOW, -hours * HOUR);

async function withVotes(votes: [hours: number, more?: object][], votesNamedSince?: Date) {
  const deps = { ...(await testDeps()), clock: stoppedClock(NOW) };
  const serverId = new ObjectId();
  const stored = votes.map(([hours, more], i) =>
    storedVote(serverId, 'steve', ago(hours), { seq: votes.length - i, ...more }),
  );
  if (stored.length > 0) await deps.votes.insertMany(stored);
  return voteStreak(deps, { _id: serverId, ...(votesNamedSince ? { votesNamedSince } : {}) }, 'STEVE');
}

test('a streak is the votes in a row with at most 48 hours between two', async () => {
  const streak = await withVotes([[30], [60], [108], [157], [181]]);
  expect(streak).toEqual({ monthlyVotes: 5, streak: 3, isOpenEnded: false, nextVoteAt: null, votedAt: null });
});

test('it ends 48 hours after the newest vote; the month and the next vote are told apart from it', async () => {
  expect(await withVotes([[49], [73]])).toEqual({
    monthlyVotes: 2,
    streak: 0,
    isOpenEnded: false,
    nextVoteAt: null,
    votedAt: null,
  });
  expect(await withVotes([[1], [25], [24 * 30]])).toEqual({
    monthlyVotes: 2,
    streak: 2,
    isOpenEnded: false,
    nextVoteAt: after(ago(1), DAY),
    votedAt: ago(1),
  });
  expect(await withVotes([])).toEqual({
    monthlyVotes: 0,
    streak: 0,
    isOpenEnded: false,
    nextVoteAt: null,
    votedAt: null,
  });
});

test('an excluded vote counts for nothing but its cooldown; an imported one counts', async () => {
  expect(await withVotes([[2, { excludedAt: NOW }], [30]])).toEqual({
    monthlyVotes: 1,
    streak: 1,
    isOpenEnded: false,
    nextVoteAt: after(ago(2), DAY),
    votedAt: ago(2),
  });
  expect(await withVotes([[20], [44, { seq: -5 }], [68, { seq: -6 }]])).toMatchObject({
    streak: 3,
    monthlyVotes: 3,
  });
});

test('a streak that reaches back to removed names may be longer', async () => {
  expect(await withVotes([[30], [60]], ago(100))).toMatchObject({ streak: 2, isOpenEnded: true });
  expect(await withVotes([[30], [60]], ago(109))).toMatchObject({ streak: 2, isOpenEnded: false });
});
