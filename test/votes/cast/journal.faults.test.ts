import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { after, HOUR, MINUTE } from '../../../src/platform/clock.ts';
import { newVoteId } from '../../../src/votes/cast/cast-vote.ts';
import { checkVote } from '../../../src/votes/cast/cooldown.ts';
import { noDelivery, type Vote } from '../../../src/votes/vote.ts';
import { castOnce, castVote } from '../../support/casting.ts';
import { EVENTUALLY } from '../../support/eventually.ts';
import { startMongod, type TestService } from '../../support/services.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';
import { ballot, bodyOf, unansweredKey } from '../voting.ts';

let mongod: TestService & { uri: string };
beforeAll(async () => {
  // The journal is flushed as seldom as mongod can: what was not waited for is lost by a kill.
  mongod = await startMongod({ args: ['--journalCommitInterval', '500'] });
});
afterAll(() => mongod.stop());

const open = () => testDeps({ MONGODB_URI: `${mongod.uri}/journal` });

/** Shown by mongod, and not in its journal yet. */
const NOT_JOURNALED = { writeConcern: { w: 1, journal: false } } as const;

function voteOf({ serverId, username, tokenId }: ReturnType<typeof ballot>, votedAt: Date): Vote {
  return {
    _id: newVoteId(votedAt),
    serverId,
    username,
    usernameKey: username.toLowerCase(),
    seq: 1,
    votedAt,
    tokenId,
    delivery: noDelivery(),
  };
}

async function crash(): Promise<void> {
  await mongod.kill();
  await mongod.restart();
}

describe('on a lone mongod that crashes', () => {
  test('a vote that was the reason of a refusal is still there', async () => {
    const deps = await open();
    for (let round = 0; round < 3; round += 1) {
      const request = ballot('Steve');
      const vote = voteOf(request, deps.clock.now());
      await deps.votes.insertOne(vote, NOT_JOURNALED);
      expect((await castVote(deps, request)).kind).toBe('refused');
      await crash();
      expect(await deps.votes.countDocuments({ _id: vote._id })).toBe(1);
    }
  });

  test('a vote that check-vote told of is still there', async () => {
    const deps = await open();
    for (let round = 0; round < 3; round += 1) {
      const request = ballot('Steve');
      const vote = voteOf(request, deps.clock.now());
      await deps.votes.insertOne(vote, NOT_JOURNALED);
      expect(await checkVote(deps, request.serverId, 'Steve')).toMatchObject({ hasVoted: true });
      await crash();
      expect(await deps.votes.countDocuments({ _id: vote._id })).toBe(1);
    }
  });

  test('an imported vote of hours ago that was written just now is still there', async () => {
    const deps = await open();
    const request = ballot('Steve');
    const vote = { ...voteOf(request, after(deps.clock.now(), -5 * HOUR)), seq: -1 };
    await checkVote(deps, request.serverId, 'Steve');
    await deps.votes.insertOne(vote, NOT_JOURNALED);
    expect(await checkVote(deps, request.serverId, 'Steve')).toMatchObject({ hasVoted: true });
    await crash();
    expect(await deps.votes.countDocuments({ _id: vote._id })).toBe(1);
  });

  test('an answer that was replayed as soon as another process stored it is still there', async () => {
    const deps = await open();
    const request = { ...ballot('Steve'), key: randomUUID() };
    const storedKey = unansweredKey(deps, request);
    await deps.idempotencyKeys.insertOne(storedKey);
    const looks = vi.spyOn(deps.idempotencyKeys, 'findOne');
    const replaying = castOnce(deps, request, bodyOf);
    await vi.waitUntil(() => looks.mock.calls.length > 0, EVENTUALLY);
    const answer = 'the first answer';
    await deps.idempotencyKeys.updateOne({ _id: storedKey._id }, { $set: { answer } }, NOT_JOURNALED);
    expect(await replaying).toMatchObject({ kind: 'answer', body: answer });
    await crash();
    expect(await deps.idempotencyKeys.findOne({ _id: storedKey._id })).toMatchObject({ answer });
  });
});

test('a vote that was in the journal long before costs no wait', async () => {
  const deps = await open();
  const clock = stoppedClock();
  const request = ballot('Steve');
  const vote = voteOf(request, after(clock.now(), -HOUR));
  await deps.votes.insertOne(vote);
  const commands = vi.spyOn(deps.mongo.db, 'command');
  const flushes = () => commands.mock.calls.filter(([command]) => 'update' in command).length;
  const check = () => checkVote({ ...deps, clock }, request.serverId, 'Steve');
  await check();
  expect(flushes()).toBe(1);
  for (let n = 0; n < 10; n += 1) await check();
  expect(flushes()).toBe(1);

  // A young one costs one flush for all that ask at once.
  const young = ballot('Alex');
  await deps.votes.insertOne(voteOf(young, after(clock.now(), -MINUTE / 6)));
  await Promise.all(Array.from({ length: 50 }, () => checkVote(deps, young.serverId, 'Alex')));
  expect(flushes()).toBeLessThanOrEqual(3);
});
