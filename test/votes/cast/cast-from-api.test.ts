import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { after, DAY, MINUTE, SECOND } from '../../../src/platform/clock.ts';
import { DeadlineError } from '../../../src/platform/deadline.ts';
import type { AppDeps } from '../../../src/process/app-deps.ts';
import { CastDeadline } from '../../../src/votes/cast/cast-deadline.ts';
import { type ApiVote, castVoteFromApi } from '../../../src/votes/cast/cast-from-api.ts';
import { VoteResultUnknownError } from '../../../src/votes/cast/insert-vote.ts';
import { useFastClock } from '../../support/fast-clock.ts';
import { mongoCommand } from '../../support/fault-proxy.ts';
import { accept, ballot, votesOf, votingForAll } from '../voting.ts';

const inserting = mongoCommand('insert', 'votes');
const readingNewest = mongoCommand('find', 'votes', 'sort');

const voting = await votingForAll();

function submission(username: string, key?: string): ApiVote {
  return { ...ballot(username), key };
}

function castFromApi(deps: AppDeps, vote: ApiVote, timeoutMs: number): ReturnType<typeof castVoteFromApi> {
  return castVoteFromApi(deps, vote, new CastDeadline(timeoutMs));
}

function storedKeysOf({ serverId }: ApiVote): Promise<number> {
  return voting.one.idempotencyKeys.countDocuments({ serverId });
}

describe('a vote of the API', () => {
  test.for([undefined, randomUUID()])('is answered as it is stored (key %s)', async (key) => {
    const request = submission('Steve', key);
    const end = await castFromApi(voting.one, request, MINUTE);
    const [vote] = await votesOf(voting.one, request.serverId);
    const nextVoteAt = after(vote?.votedAt ?? new Date(0), DAY);
    expect(end).toEqual({
      kind: 'accepted',
      voteId: vote?._id,
      nextVoteAt,
      body: JSON.stringify({ success: true, monthly_votes: 1, next_vote_at: nextVoteAt.toISOString() }),
      replayed: false,
    });
  });

  test('is replayed under its key, also after further votes', async () => {
    const request = submission('Steve', randomUUID());
    const first = await castFromApi(voting.one, request, MINUTE);
    await accept(voting.one, ballot('Alex', request.serverId));
    expect(await castFromApi(voting.other, request, MINUTE)).toEqual({ ...first, replayed: true });
  });

  test.for([undefined, randomUUID()])('is refused in the cooldown (key %s)', async (key) => {
    const request = submission('Steve', key);
    const { vote } = await accept(voting.one, request);
    const end = await castFromApi(voting.one, request, MINUTE);
    expect(end).toEqual({ kind: 'refused', vote, nextVoteAt: after(vote.votedAt, DAY) });
  });

  test('is refused under a key of another name', async () => {
    const request = submission('Steve', randomUUID());
    await castFromApi(voting.one, request, MINUTE);
    const other = { ...request, username: 'Alex', tokenId: new ObjectId() };
    expect(await castFromApi(voting.one, other, MINUTE)).toEqual({ kind: 'key-reused', username: 'Steve' });
  });
});

describe('the deadline', () => {
  test('before the vote is sent casts nothing, then or later, and frees the key', async () => {
    const request = submission('Steve', randomUUID());
    // Read before, so that the time is not over while the blocks are read.
    await voting.other.blockList.findName('steve', new Date());
    const held = voting.proxy.stallNext(readingNewest, () => ended);
    // Awaited from the start: on a busy machine the time may be over before the newest vote is read.
    const ended = expect(castFromApi(voting.other, request, SECOND / 20)).rejects.toThrow(DeadlineError);
    await held;
    await expect.poll(() => storedKeysOf(request)).toBe(0);
    expect(await votesOf(voting.one, request.serverId)).toEqual([]);
  });

  test.for([
    undefined,
    randomUUID(),
  ])('after the vote was sent leaves its end unknown (key %s)', async (key) => {
    const request = submission('Steve', key);
    const clock = useFastClock();
    clock.slowDown();
    const held = voting.proxy.stallNext(inserting, async () => {
      clock.speedUp();
      const error: unknown = await end.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(VoteResultUnknownError);
      expect(error).toHaveProperty('cause', expect.any(DeadlineError));
      clock.slowDown();
    });
    const end = castFromApi(voting.other, request, 5 * SECOND);
    await held;
    await expect.poll(() => votesOf(voting.one, request.serverId)).toHaveLength(1);
  });

  test('while another request of the key may have sent the vote leaves its end unknown', async () => {
    const request = submission('Steve', randomUUID());
    // Its time is shorter than its wait for the other request's answer.
    const held = voting.proxy.stallNext(inserting, () =>
      expect(castFromApi(voting.one, request, SECOND)).rejects.toThrow(VoteResultUnknownError),
    );
    const end = castFromApi(voting.other, request, MINUTE);
    await held;
    expect(await end).toMatchObject({ kind: 'accepted', replayed: false });
  });
});
