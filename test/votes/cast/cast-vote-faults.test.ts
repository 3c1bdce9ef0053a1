import type { ObjectId } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Accepted, newVoteId } from '../../../src/votes/cast/cast-vote.ts';
import { checkVote } from '../../../src/votes/cast/cooldown.ts';
import { VoteResultUnknownError } from '../../../src/votes/cast/insert-vote.ts';
import { castVote } from '../../support/casting.ts';
import { mongoCommand } from '../../support/fault-proxy.ts';
import { accept, ballot, counted, refuse, votesOf, votingForAll } from '../voting.ts';

const inserting = mongoCommand('insert', 'votes');
const readingNewest = mongoCommand('find', 'votes', 'sort');
const readingAny = mongoCommand('find', 'votes', 'readConcern');
const readingById: typeof readingAny = (request) => readingAny(request) && !readingNewest(request);

const voting = await votingForAll();

describe('an insert whose end is lost', () => {
  test('is accepted when it was stored: once, and counted once', async () => {
    const request = ballot('Steve');
    const cut = voting.proxy.cutAfterNext(inserting);
    const { vote, monthlyVotes } = await accept(voting.other, request);
    await cut;
    expect(monthlyVotes).toBe(1);
    expect(await votesOf(voting.one, request.serverId)).toEqual([vote]);
    expect(await counted(voting.one, request.serverId)).toBe(1);
    await refuse(voting.one, request);
  });

  test('is sent again when it was not stored, as often as it must, and counted once', async () => {
    const request = ballot('Steve');
    const cuts = [1, 2, 3].map(() => voting.proxy.cutBeforeNext(inserting));
    const { vote, monthlyVotes } = await accept(voting.other, request);
    await Promise.all(cuts);
    expect(monthlyVotes).toBe(1);
    expect(await votesOf(voting.one, request.serverId)).toEqual([vote]);
    expect(await counted(voting.one, request.serverId)).toBe(1);
  });

  test('is refused when another process took its place before it was sent again', async () => {
    const request = ballot('Steve');
    let winner: Accepted | undefined;
    const cut = voting.proxy.cutBeforeNext(inserting, async () => {
      winner = await accept(voting.one, { ...request, username: 'STEVE' });
    });
    const refused = await refuse(voting.other, request);
    await cut;
    expect(refused.vote).toEqual(winner?.vote);
    expect(await votesOf(voting.one, request.serverId)).toHaveLength(1);
    expect(await counted(voting.one, request.serverId)).toBe(1);
  });

  test('is not a refusal when nothing is known of it but that a later try failed', async () => {
    const request = ballot('Steve');
    // Stored, its answer lost, and the database cannot be asked: the driver tries a reading twice.
    const faults = [
      voting.proxy.cutAfterNext(inserting),
      voting.proxy.cutBeforeNext(readingById),
      voting.proxy.cutBeforeNext(readingById),
    ];
    await expect(castVote(voting.other, request)).rejects.toThrow(VoteResultUnknownError);
    await Promise.all(faults);
    expect(await checkVote(voting.one, request.serverId, 'Steve')).toMatchObject({ hasVoted: true });
  });
});

describe('an insert that the database refuses', () => {
  async function refuseVotesOf({ serverId }: { serverId: ObjectId }): Promise<void> {
    const { db } = voting.one.mongo;
    await db.command({ collMod: 'votes', validator: { serverId: { $ne: serverId } } });
    onTestFinished(async () => {
      await db.command({ collMod: 'votes', validator: {} });
    });
  }

  test('has failed, and is known to', async () => {
    const request = ballot('Steve');
    await refuseVotesOf(request);
    const end = await castVote(voting.one, request).catch((error: unknown) => error);
    expect(end).toMatchObject({ name: 'MongoServerError', code: 121 });
  });

  test('has an unknown end all the same after a try whose end was lost', async () => {
    const request = ballot('Steve');
    const cut = voting.proxy.cutBeforeNext(inserting, () => refuseVotesOf(request));
    await expect(castVote(voting.other, request)).rejects.toThrow(VoteResultUnknownError);
    await cut;
  });
});

describe('a race that one process loses', () => {
  test('the insert that comes second is refused with the vote that came first', async () => {
    const request = ballot('Steve');
    let winner: Accepted | undefined;
    const held = voting.proxy.stallNext(inserting, async () => {
      winner = await accept(voting.one, { ...request, username: 'ＳＴＥＶＥ' });
    });
    const refused = await refuse(voting.other, request);
    await held;
    expect(refused.vote).toEqual(winner?.vote);
  });

  test('a vote finished by another process under the same id is accepted, not in its own way', async () => {
    const request = ballot('Steve');
    const id = newVoteId(new Date());
    let first: Accepted | undefined;
    const readById = voting.proxy.stallNext(readingById, async () => undefined);
    const held = voting.proxy.stallNext(readingNewest, async () => {
      // The reading by id comes before that vote, the reading of the newest vote after it.
      await readById;
      const end = await castVote(voting.one, request, id);
      if (end.kind === 'accepted') first = end;
    });
    const end = await castVote(voting.other, request, id);
    await held;
    expect(end).toEqual(first);
    expect(await counted(voting.one, request.serverId)).toBe(1);
  });
});

test('a database that fails before the insert is no unknown end, and nothing is cast', async () => {
  const request = ballot('Steve');
  const faults = [1, 2].map(() => voting.proxy.cutBeforeNext(readingNewest));
  const end = castVote(voting.other, request);
  await expect(end).rejects.toThrow();
  await expect(end).rejects.not.toThrow(VoteResultUnknownError);
  await Promise.all(faults);
  expect(await votesOf(voting.one, request.serverId)).toEqual([]);
});
