import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { removeListener } from '../../src/delivery/change-listener.ts';
import { countEarlierVotes } from '../../src/delivery/earlier-votes.ts';
import { after, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { deliveryBench } from '../support/delivering.ts';
import { storedVote } from '../support/votes.ts';

test('earlier votes are counted although the newest are held or claimed, up to the newest 5,000', async () => {
  const { deps, serverId, clock, cast, set } = await deliveryBench();
  await removeListener(deps, serverId, 'test');
  await cast('Steve');
  clock.move(HOUR);
  await set({});
  const listener = await deps.listeners.findOne({ serverId });
  const count = () => listener && countEarlierVotes(deps, listener);
  const now = clock.now();
  const held = { quarantinedAt: now, excludedAt: now };
  const claimed = { claim: { at: now, tokenId: new ObjectId() } };
  const newer = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) =>
      storedVote(serverId, `player ${from + n}`, after(now, -MINUTE), n % 2 ? held : claimed),
    );
  await deps.votes.insertMany(newer(0, 120));
  expect(await count()).toEqual({ votes: 1, more: false });
  await deps.votes.insertMany(newer(120, 4_999));
  expect(await count()).toEqual({ votes: 1, more: true });
  await deps.votes.insertMany(newer(4_999, 5_000));
  expect(await count()).toEqual({ votes: 0, more: true });
  // A database with many documents would be dropped and migrated again for the next test.
  await deps.votes.deleteMany({ serverId });
});
