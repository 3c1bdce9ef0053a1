import { ObjectId, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { expect, test, vi } from 'vitest';
import { topVotersOfMonth } from '../../src/votes/top-voters.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

const NOW = '2026-03-10T12:00:00.000Z';

type Cast = [name: string, at: string, more?: Partial<Vote>];

/** A platform whose clock stands at `NOW`, and a server with these votes. */
async function serverWith(cast: Cast[]) {
  const deps = { ...(await testDeps()), clock: stoppedClock(new Date(NOW)) };
  const serverId = new ObjectId();
  const add = (votes: Cast[], first = 1) =>
    deps.votes.insertMany(votes.map((vote, i) => voteOf(serverId, vote, first + i)));
  await add(cast);
  const top = async (month: string, limit = 10) =>
    (await topVotersOfMonth(deps, serverId, month, limit)).map(({ username, votes }) => [username, votes]);
  return { deps, serverId, add, top };
}

function voteOf(serverId: ObjectId, [username, at, more]: Cast, seq: number): Vote {
  return {
    _id: new UUID(uuidv7()),
    serverId,
    username,
    usernameKey: username.toLowerCase(),
    seq,
    votedAt: new Date(at),
    tokenId: null,
    delivery: {
      state: 'none',
      step: 0,
      ambiguousEnds: 0,
      attemptCount: 0,
      attempts: [],
      ends: {},
      events: [],
    },
    ...more,
  };
}

test('a month begins and ends at midnight UTC, and excluded votes do not count', async () => {
  const { top } = await serverWith([
    ['January', '2026-01-31T23:59:59.999Z'],
    ['First', '2026-02-01T00:00:00.000Z'],
    ['last', '2026-02-27T10:00:00.000Z'],
    ['Last', '2026-02-28T23:59:59.999Z'],
    ['March', '2026-03-01T00:00:00.000Z'],
    ['Excluded', '2026-02-03T00:00:00.000Z', { excludedAt: new Date(NOW) }],
  ]);
  expect(await top('2026-02')).toEqual([
    ['Last', 2],
    ['First', 1],
  ]);
  expect(await top('2026-02', 1)).toEqual([['Last', 2]]);
  expect(await top('2026-03')).toEqual([['March', 1]]);
});

test('a month that has not begun has no voters', async () => {
  const { top } = await serverWith([['Steve', '2026-04-01T00:00:00.000Z']]);
  expect(await top('2026-04')).toEqual([]);
});

test('a list is read once a minute, also by requests at the same time, and its months one after the other', async () => {
  const { deps, top, add } = await serverWith([['Steve', '2026-03-01T00:00:00.000Z']]);
  let running = 0;
  let most = 0;
  const original = deps.votes.aggregate.bind(deps.votes);
  const aggregate = vi.spyOn(deps.votes, 'aggregate').mockImplementation((...args) => {
    const cursor = original(...args);
    const toArray = cursor.toArray.bind(cursor);
    cursor.toArray = async () => {
      most = Math.max(most, ++running);
      return await toArray().finally(() => running--);
    };
    return cursor;
  });
  const months = ['2026-03', '2026-02', '2026-01', '2026-03'];
  await Promise.all([...months, ...months].map((month) => top(month)));
  expect(aggregate).toHaveBeenCalledTimes(3);
  expect(most).toBe(1);
  await add([['Alex', '2026-03-02T00:00:00.000Z']], 2);
  expect(await top('2026-03')).toEqual([['Steve', 1]]);
});

test('a read that fails is not cached', async () => {
  const { deps, top } = await serverWith([['Steve', '2026-03-01T00:00:00.000Z']]);
  vi.spyOn(deps.votes, 'aggregate').mockImplementationOnce(() => {
    throw new Error('no database');
  });
  await expect(top('2026-03')).rejects.toThrow('no database');
  expect(await top('2026-03')).toEqual([['Steve', 1]]);
});
