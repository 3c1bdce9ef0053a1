import { randomUUID } from 'node:crypto';
import type { ObjectId } from 'mongodb';
import { describe, expect, test, vi } from 'vitest';
import type { IdempotencyKey } from '../../../src/votes/cast/cast-once.ts';
import { VoteResultUnknownError } from '../../../src/votes/cast/insert-vote.ts';
import { type Ballot, castOnce } from '../../support/casting.ts';
import { mongoCommand } from '../../support/fault-proxy.ts';
import { accept, ballot, bodyOf, counted, votesOf, votingForAll } from '../voting.ts';

const storing = mongoCommand('insert', 'idempotency_keys');
const storingAnswer = mongoCommand('update', 'idempotency_keys');
const freeing = mongoCommand('delete', 'idempotency_keys');
const inserting = mongoCommand('insert', 'votes');
const readingNewest = mongoCommand('find', 'votes', 'sort');
const readingPlayer = mongoCommand('find', 'votes', 'usernameKey', 'readConcern');
const readingBySeq: typeof readingPlayer = (request) => readingPlayer(request) && !readingNewest(request);

const voting = await votingForAll();

type Keyed = Ballot & { key: string };

/** A request with a key that nobody has used. */
function keyed(username: string): Keyed {
  return { ...ballot(username), key: randomUUID() };
}

/** The stored key of a request. */
function storedKeyOf({ serverId, key }: { serverId: ObjectId; key: string }): Promise<IdempotencyKey | null> {
  return voting.one.idempotencyKeys.findOne({ serverId, key });
}

/** The same request, sent again to the other process, gives one vote and an answer that stays. */
async function expectFinished(request: Keyed): Promise<void> {
  const again = await castOnce(voting.one, request, bodyOf);
  const [vote, ...others] = await votesOf(voting.one, request.serverId);
  expect(others).toEqual([]);
  expect(again).toMatchObject({ kind: 'answer', voteId: vote?._id });
  expect(await castOnce(voting.other, request, bodyOf)).toEqual({ ...again, replayed: true });
}

describe('the insert of a key', () => {
  test('whose answer is lost is found to be the request’s own, and the vote is cast without waiting for anybody', async () => {
    const request = keyed('Steve');
    const cut = voting.proxy.cutAfterNext(storing);
    const lookedAgain = vi.spyOn(voting.other.idempotencyKeys, 'findOne');
    const end = await castOnce(voting.other, request, bodyOf);
    // As it would be until another process had answered.
    expect(lookedAgain).not.toHaveBeenCalled();
    lookedAgain.mockRestore();
    await cut;
    expect(end.kind).toBe('answer');
    expect(await storedKeyOf(request)).toMatchObject({ answer: end.kind === 'answer' && end.body });
    await expectFinished(request);
  });

  test('that is lost before it arrives is made again', async () => {
    const request = keyed('Steve');
    const cut = voting.proxy.cutBeforeNext(storing);
    const end = await castOnce(voting.other, request, bodyOf);
    await cut;
    expect(end.kind).toBe('answer');
    expect(await votesOf(voting.one, request.serverId)).toHaveLength(1);
  });
});

describe('an insert whose end is unknown', () => {
  test.for([
    'cutAfterNext',
    'cutBeforeNext',
  ] as const)('keeps the key, and repeating the request finishes it (%s)', async (cut) => {
    const request = keyed('Steve');
    const faults = [
      voting.proxy[cut](inserting),
      voting.proxy.cutBeforeNext(readingBySeq),
      voting.proxy.cutBeforeNext(readingBySeq),
    ];
    await expect(castOnce(voting.other, request, bodyOf)).rejects.toThrow(VoteResultUnknownError);
    await Promise.all(faults);
    const storedKey = await storedKeyOf(request);
    expect(storedKey).toMatchObject({ answer: null });
    await expectFinished(request);
    expect(await votesOf(voting.one, request.serverId)).toMatchObject([{ _id: storedKey?.voteId }]);
  });
});

describe('an answer that cannot be stored', () => {
  test.for([
    'cutAfterNext',
    'cutBeforeNext',
  ] as const)('makes the end unknown, and repeating the request gives it (%s)', async (cut) => {
    const request = keyed('Steve');
    const faults = [voting.proxy[cut](storingAnswer), voting.proxy.cutBeforeNext(storingAnswer)];
    await expect(castOnce(voting.other, request, bodyOf)).rejects.toThrow(VoteResultUnknownError);
    await Promise.all(faults);
    await expectFinished(request);
    expect(await counted(voting.one, request.serverId)).toBe(1);
  });

  test('because another process stored one first is answered with that one', async () => {
    const request = keyed('Steve');
    let first: unknown;
    const held = voting.proxy.stallNext(storingAnswer, async () => {
      first = await castOnce(voting.one, request, () => 'the first answer');
    });
    const end = await castOnce(voting.other, request, () => 'the second answer');
    await held;
    expect(end).toMatchObject({ kind: 'answer', body: 'the first answer' });
    expect(end).toEqual(first);
    expect(await castOnce(voting.one, request, bodyOf)).toEqual({ ...end, replayed: true });
  });

  test('because a failed request of the same key freed it is stored anew', async () => {
    const request = keyed('Steve');
    const held = voting.proxy.stallNext(storingAnswer, () =>
      voting.one.idempotencyKeys.deleteOne({ serverId: request.serverId, key: request.key }),
    );
    const end = await castOnce(voting.other, request, bodyOf);
    await held;
    expect(await castOnce(voting.one, request, () => 'another answer')).toEqual({
      ...end,
      replayed: true,
    });
    expect(await votesOf(voting.one, request.serverId)).toHaveLength(1);
  });
});

describe('two processes that finish the vote of one key', () => {
  test('both give the same answer when the slower one finds the vote of the other', async () => {
    const request = keyed('Steve');
    let first: unknown;
    const held = voting.proxy.stallNext(readingNewest, async () => {
      first = await castOnce(voting.one, request, bodyOf);
    });
    const end = await castOnce(voting.other, request, bodyOf);
    await held;
    expect(end).toEqual(first);
    expect(await votesOf(voting.one, request.serverId)).toHaveLength(1);
    expect(await counted(voting.one, request.serverId)).toBe(1);
  });
});

describe('a failure before the insert', () => {
  test('frees the key, for another name too', async () => {
    const request = keyed('Steve');
    const faults = [1, 2].map(() => voting.proxy.cutBeforeNext(readingNewest));
    await expect(castOnce(voting.other, request, bodyOf)).rejects.not.toThrow(VoteResultUnknownError);
    await Promise.all(faults);
    expect(await storedKeyOf(request)).toBeNull();
    const end = await castOnce(voting.one, { ...request, username: 'Alex' }, bodyOf);
    expect(end.kind).toBe('answer');
  });

  test('that cannot even free the key leaves a key whose vote the next request finishes', async () => {
    const request = keyed('Steve');
    await accept(voting.one, request);
    const fault = voting.proxy.cutBeforeNext(freeing);
    expect((await castOnce(voting.other, request, bodyOf)).kind).toBe('refused');
    await fault;
    expect(await storedKeyOf(request)).toMatchObject({ answer: null });
    expect((await castOnce(voting.one, request, bodyOf)).kind).toBe('refused');
    expect(await storedKeyOf(request)).toBeNull();
  });
});
