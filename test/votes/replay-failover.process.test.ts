import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { expect, onTestFinished, test, vi } from 'vitest';
import { after, DAY } from '../../src/platform/clock.ts';
import { newVoteId } from '../../src/votes/cast-vote.ts';
import { castVoteOnce } from '../../src/votes/cast-vote-once.ts';
import type { IdempotencyKey } from '../../src/votes/idempotency-key.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startReplicaSet } from '../support/replica-set.ts';
import { testPlatform } from '../support/test-platform.ts';
import { ballot, bodyOf, votesOf } from './voting.ts';

test('an answer that a failover rolls back is not sent', async () => {
  // Long enough that a primary whose other members are killed stays one for the whole of the test.
  const set = await startReplicaSet({ electionTimeoutMs: 8_000 });
  onTestFinished(() => set.stop());
  const platform = await testPlatform({ MONGODB_URI: set.uri('replay') });
  const now = platform.clock.now();
  const request = { ...ballot('Steve'), key: randomUUID() };
  const claim: IdempotencyKey = {
    _id: new ObjectId(),
    serverId: request.serverId,
    key: request.key,
    username: 'Steve',
    voteId: newVoteId(now),
    expiresAt: after(now, DAY),
    answer: null,
  };
  await platform.idempotencyKeys.insertOne(claim);
  const primary = await set.primary();
  const others = set.members.filter(({ port }) => port !== primary.port);

  // It waits for the answer of the process that owns the claim.
  const looks = vi.spyOn(platform.idempotencyKeys, 'findOne');
  const asking = castVoteOnce(platform, request, bodyOf).then(
    (end) => (end.kind === 'answer' ? end.body : end.kind),
    () => 'failed',
  );
  await vi.waitUntil(() => looks.mock.calls.length > 0, EVENTUALLY);
  // Suspended, not stopped: messages to them wait in their sockets.
  await Promise.all(others.map((member) => member.kill()));
  await platform.idempotencyKeys.updateOne(
    { _id: claim._id },
    { $set: { answer: 'rolled back' } },
    { writeConcern: { w: 1 } },
  );
  // A read from the primary alone sees it now.
  const seen = looks.mock.calls.length;
  const waiting = Symbol('waiting');
  const looked = vi.waitUntil(() => looks.mock.calls.length > seen + 5, EVENTUALLY).then(() => waiting);
  expect(await Promise.race([asking, looked])).toBe(waiting);
  await primary.kill();
  await Promise.all(others.map((member) => member.restart()));
  await set.primary();
  expect(await asking).not.toBe('rolled back');

  // Answers from now on are durable, whichever member is primary.
  const first = await castVoteOnce(platform, request, bodyOf);
  expect(first).toMatchObject({ kind: 'answer', voteId: claim.voteId });
  await primary.restart();
  expect(await castVoteOnce(platform, request, bodyOf)).toEqual({ ...first, replayed: true });
  expect(await votesOf(platform, request.serverId)).toHaveLength(1);
}, 180_000);
