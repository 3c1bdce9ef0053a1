import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { after, type Clock, DAY } from '../../../src/platform/clock.ts';
import type { AppDeps } from '../../../src/process/app-deps.ts';
import type { IdempotencyKey } from '../../../src/votes/cast/cast-once.ts';
import { newVoteId } from '../../../src/votes/cast/cast-vote.ts';
import { type Ballot, castOnce, castVote } from '../../support/casting.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { accept, answerOf, ballot, bodyOf, counted, votesOf, votingForAll } from '../voting.ts';

const voting = await votingForAll();

/** A request with a key that nobody has used. */
function keyed(username: string, serverId?: ObjectId): Ballot & { key: string } {
  return { ...ballot(username, serverId), key: randomUUID() };
}

/** The stored key of a request. */
function storedKeyOf({ serverId, key }: { serverId: ObjectId; key: string }): Promise<IdempotencyKey | null> {
  return voting.one.idempotencyKeys.findOne({ serverId, key });
}

/** Stores the key of a process that died before it answered. */
async function leaveKey(
  { serverId, key, username }: Ballot & { key: string },
  now: Date,
): Promise<IdempotencyKey> {
  const storedKey = {
    _id: new ObjectId(),
    serverId,
    key,
    username,
    voteId: newVoteId(now),
    expiresAt: after(now, DAY),
    answer: null,
  };
  await voting.one.idempotencyKeys.insertOne(storedKey);
  return storedKey;
}

function withClock(clock: Clock): AppDeps {
  return { ...voting.one, clock };
}

describe('the same key with the same name', () => {
  test('replays the first answer byte for byte and casts nothing', async () => {
    const request = keyed('Steve');
    const first = await castOnce(voting.one, request, bodyOf);
    expect(first.kind).toBe('answer');
    await accept(voting.one, ballot('Alex', request.serverId));
    const again = await castOnce(voting.other, request, () => {
      throw new Error('a replay makes no body');
    });
    expect(again).toEqual({ ...first, replayed: true });
    const [, steve] = await votesOf(voting.one, request.serverId);
    expect(first).toMatchObject({ voteId: steve?._id });
    expect(await counted(voting.one, request.serverId)).toBe(2);
  });

  test('50 times at once on two processes is one vote and one answer', async () => {
    const request = keyed('Steve');
    const ends = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        castOnce(i % 2 ? voting.one : voting.other, request, (end) => `${i} ${bodyOf(end)}`),
      ),
    );
    for (const end of ends) expect(answerOf(end)).toEqual(answerOf(ends[0]));
    expect(ends[0]?.kind).toBe('answer');
    const votes = await votesOf(voting.one, request.serverId);
    expect(votes.map(({ _id }) => _id)).toEqual([ends[0]?.kind === 'answer' && ends[0].voteId]);
    expect(await counted(voting.one, request.serverId)).toBe(1);
  });

  test('is another request on another server', async () => {
    const here = keyed('Steve');
    const there = { ...keyed('Alex'), key: here.key };
    const ends = await Promise.all([here, there].map((request) => castOnce(voting.one, request, bodyOf)));
    expect(ends.map(({ kind }) => kind)).toEqual(['answer', 'answer']);
    expect(await votesOf(voting.one, there.serverId)).toHaveLength(1);
  });
});

describe('the same key with another name', () => {
  test('is refused, another spelling of the same player too, and casts nothing', async () => {
    const request = keyed('Steve');
    await castOnce(voting.one, request, bodyOf);
    for (const username of ['Alex', 'steve']) {
      const end = await castOnce(voting.other, { ...request, username }, bodyOf);
      expect(end).toEqual({ kind: 'key-reused', username: 'Steve' });
    }
    expect(await votesOf(voting.one, request.serverId)).toHaveLength(1);
  });

  test('is refused while the first request is still running', async () => {
    const request = keyed('Steve');
    await leaveKey(request, new Date());
    const end = await castOnce(voting.one, { ...request, username: 'Alex' }, bodyOf);
    expect(end).toEqual({ kind: 'key-reused', username: 'Steve' });
  });
});

describe('a refusal', () => {
  test('frees the key, for another name too', async () => {
    const request = keyed('Steve');
    const { vote } = await accept(voting.one, request);
    const refused = await castOnce(voting.one, request, bodyOf);
    expect(refused).toEqual({ kind: 'refused', vote, nextVoteAt: after(vote.votedAt, DAY) });
    expect(await storedKeyOf(request)).toBeNull();
    const end = await castOnce(voting.one, { ...request, username: 'Alex' }, bodyOf);
    expect(end.kind).toBe('answer');
  });

  test('of 20 requests with one key at once refuses all and frees the key', async () => {
    const request = keyed('Steve');
    await accept(voting.one, request);
    const ends = await Promise.all(
      Array.from({ length: 20 }, (_, i) => castOnce(i % 2 ? voting.one : voting.other, request, bodyOf)),
    );
    expect(new Set(ends.map(({ kind }) => kind))).toEqual(new Set(['refused']));
    expect(await storedKeyOf(request)).toBeNull();
  });
});

describe.concurrent('a stored key whose process died', () => {
  test('before its vote was inserted is finished under the stored id', async ({ expect }) => {
    const request = keyed('Steve');
    const storedKey = await leaveKey(request, new Date());
    const end = await castOnce(voting.one, request, bodyOf);
    expect(end).toMatchObject({ kind: 'answer', voteId: storedKey.voteId });
    expect((await votesOf(voting.one, request.serverId)).map(({ _id }) => _id)).toEqual([storedKey.voteId]);
    expect(await castOnce(voting.other, request, bodyOf)).toEqual({ ...end, replayed: true });
  });

  test('after its vote was inserted is answered with that vote, as it was cast', async ({ expect }) => {
    const request = keyed('Steve');
    const clock = stoppedClock(new Date('2026-05-04T10:00:00.000Z'));
    const storedKey = await leaveKey(request, clock.now());
    const cast = await castVote(withClock(clock), request, storedKey.voteId);
    clock.move(DAY - 1);
    const end = await castOnce(withClock(clock), request, bodyOf);
    expect(end).toEqual({ kind: 'answer', voteId: storedKey.voteId, body: bodyOf(cast), replayed: false });
    expect(await votesOf(voting.one, request.serverId)).toHaveLength(1);
    expect(await counted(voting.one, request.serverId)).toBe(1);
  });

  test('is finished by one of 30 requests at once, under the stored id', async ({ expect }) => {
    const request = keyed('Steve');
    const storedKey = await leaveKey(request, new Date());
    const ends = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        castOnce(i % 2 ? voting.one : voting.other, request, (end) => `${i} ${bodyOf(end)}`),
      ),
    );
    for (const end of ends) expect(answerOf(end)).toEqual(answerOf(ends[0]));
    expect(ends[0]).toMatchObject({ kind: 'answer', voteId: storedKey.voteId });
    expect(await votesOf(voting.one, request.serverId)).toHaveLength(1);
    expect(await counted(voting.one, request.serverId)).toBe(1);
  });

  test('before a refusal is freed by the next request, which is refused', async ({ expect }) => {
    const request = keyed('Steve');
    await accept(voting.one, request);
    await leaveKey(request, new Date());
    expect((await castOnce(voting.one, request, bodyOf)).kind).toBe('refused');
    expect(await storedKeyOf(request)).toBeNull();
  });
});

describe('a key after 24 hours', () => {
  test('replays one millisecond before, and is new exactly then', async () => {
    const clock = stoppedClock(new Date());
    const deps = withClock(clock);
    const request = keyed('Steve');
    const first = await castOnce(deps, request, bodyOf);
    clock.move(DAY - 1);
    expect(await castOnce(deps, request, bodyOf)).toEqual({ ...first, replayed: true });
    clock.move(1);
    const second = await castOnce(deps, request, bodyOf);
    expect(second.kind).toBe('answer');
    expect(answerOf(second)).not.toEqual(answerOf(first));
    expect(await votesOf(deps, request.serverId)).toHaveLength(2);
  });

  test('may be used for another name', async () => {
    const clock = stoppedClock(new Date());
    const request = keyed('Steve');
    await castOnce(withClock(clock), request, bodyOf);
    clock.move(DAY);
    const end = await castOnce(withClock(clock), { ...request, username: 'Alex' }, bodyOf);
    expect(end.kind).toBe('answer');
  });

  test('is stored anew by one of 30 requests at once', async () => {
    const clock = stoppedClock(new Date());
    const request = keyed('Steve');
    const first = await castOnce(withClock(clock), request, bodyOf);
    clock.move(DAY);
    const other = { ...voting.other, clock };
    const ends = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        castOnce(i % 2 ? withClock(clock) : other, request, (end) => `${i} ${bodyOf(end)}`),
      ),
    );
    for (const end of ends) expect(answerOf(end)).toEqual(answerOf(ends[0]));
    expect(answerOf(ends[0])).not.toEqual(answerOf(first));
    expect(await votesOf(voting.one, request.serverId)).toHaveLength(2);
  });
});
