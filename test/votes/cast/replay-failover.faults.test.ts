import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test, vi } from 'vitest';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { castOnce, castVote } from '../../support/casting.ts';
import { EVENTUALLY } from '../../support/eventually.ts';
import { type ReplicaSet, startReplicaSet } from '../../support/replica-set.ts';
import { testDeps } from '../../support/test-deps.ts';
import { ballot, bodyOf, unansweredKey, votesOf } from '../voting.ts';

/** Its primary stays one for a whole test although the other members are killed. */
let set: ReplicaSet;

beforeAll(async () => {
  set = await startReplicaSet({ electionTimeoutMs: 8_000 });
  return () => set.stop();
}, 60_000);

/** The primary, and the members that follow it. */
async function roles() {
  const primary = await set.primary();
  return { primary, others: set.members.filter(({ port }) => port !== primary.port) };
}

test('an answer that a failover rolls back is not sent', async () => {
  const deps = await testDeps({ MONGODB_URI: set.uri('replay') });
  const request = { ...ballot('Steve'), key: randomUUID() };
  const storedKey = unansweredKey(deps, request);
  await deps.idempotencyKeys.insertOne(storedKey);
  const { primary, others } = await roles();

  // It waits for the answer of the process that stored the key.
  const looks = vi.spyOn(deps.idempotencyKeys, 'findOne');
  const asking = castOnce(deps, request, bodyOf).then(
    (end) => (end.kind === 'answer' ? end.body : end.kind),
    () => 'failed',
  );
  await vi.waitUntil(() => looks.mock.calls.length > 0, EVENTUALLY);
  // Suspended, not stopped: messages to them wait in their sockets.
  await Promise.all(others.map((member) => member.kill()));
  await deps.idempotencyKeys.updateOne(
    { _id: storedKey._id },
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
  const first = await castOnce(deps, request, bodyOf);
  expect(first).toMatchObject({ kind: 'answer', voteId: storedKey.voteId });
  await primary.restart();
  expect(await castOnce(deps, request, bodyOf)).toEqual({ ...first, replayed: true });
  expect(await votesOf(deps, request.serverId)).toHaveLength(1);
}, 180_000);

test('a vote that a failover rolls back is not accepted; the accepted one stays', async () => {
  const deps = await testDeps({ MONGODB_URI: set.uri('rollback') });
  await migrateDatabase(deps.mongo);
  const { primary, others } = await roles();
  const vote = ballot('Steve');
  await Promise.all(others.map((member) => member.kill()));
  const casting = castVote(deps, vote).then(
    (result) => result,
    () => 'not answered' as const,
  );
  // The primary has it, and nobody else.
  await vi.waitUntil(async () => (await votesOf(deps, vote.serverId)).length === 1, EVENTUALLY);
  const [lost] = await votesOf(deps, vote.serverId);
  await primary.kill();
  await Promise.all(others.map((member) => member.restart()));
  await set.primary();

  // The call under way may insert its vote again. Without an answer, the player votes once more.
  const first = await casting;
  const accepted = first === 'not answered' ? await castVote(deps, vote) : first;
  expect(accepted.kind).toBe('accepted');
  await primary.restart();
  const [stored, ...more] = await votesOf(deps, vote.serverId);
  expect(more).toEqual([]);
  expect(stored).toMatchObject({ _id: accepted.vote._id, seq: 1 });
  if (first !== 'not answered') expect(stored?._id).toEqual(lost?._id);
}, 180_000);
