import { expect, onTestFinished, test } from 'vitest';
import { VoteResultUnknownError } from '../../../src/votes/cast/insert-vote.ts';
import { castVote } from '../../support/casting.ts';
import { mongoCommand } from '../../support/fault-proxy.ts';
import { startMongod } from '../../support/services.ts';
import { accept, ballot, openVoting, refuse, votesOf } from '../voting.ts';

const inserting = mongoCommand('insert', 'votes');

test('mongod killed in the middle: no accepted vote is lost, and a repeat tells the truth', async () => {
  const mongod = await startMongod();
  const { one, other, proxy, close } = await openVoting(mongod.uri);
  onTestFinished(async () => {
    await close();
    await mongod.stop();
  });
  const { serverId } = ballot('');
  const stored = ballot('Stored', serverId);
  const unsent = ballot('Unsent', serverId);
  await accept(one, ballot('Before', serverId));

  // At the kill one vote is stored and not answered, one has not arrived, and many others are at every other point.
  const killed = Promise.withResolvers<void>();
  const ends: Promise<unknown>[] = [];
  for (const [request, cut] of [
    [stored, proxy.cutAfterNext],
    [unsent, proxy.cutBeforeNext],
  ] as const) {
    const held = Promise.withResolvers<void>();
    void cut(inserting, () => {
      held.resolve();
      return killed.promise;
    });
    ends.push(castVote(other, request).catch((error: unknown) => error));
    await held.promise;
  }
  const others = Array.from({ length: 120 }, (_, i) => ballot(`Other${i}`, serverId));
  const casts = others.map((request) => castVote(one, request));
  const otherEnds = Promise.allSettled(casts);
  await Promise.race(casts);
  await mongod.kill();
  killed.resolve();
  for (const end of ends) expect(await end).toBeInstanceOf(VoteResultUnknownError);

  await mongod.restart();
  const othersBefore = await otherEnds;
  expect((await refuse(one, stored)).vote.username).toBe('Stored');
  await accept(one, unsent);
  await refuse(one, ballot('Before', serverId));
  const othersAfter = await Promise.all(others.map((request) => castVote(one, request)));
  othersBefore.forEach((before, i) => {
    if (before.status === 'fulfilled') expect(othersAfter[i]?.kind).toBe('refused');
  });
  expect(othersBefore.some(({ status }) => status === 'fulfilled')).toBe(true);
  expect(await votesOf(one, serverId)).toHaveLength(3 + others.length);
});
