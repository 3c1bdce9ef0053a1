import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { settleQueueTimes } from '../../src/database/migrations/0007-queue-times.ts';
import { sweepDueWork } from '../../src/delivery/sweep.ts';
import { after, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import type { Delivery } from '../../src/votes/vote.ts';
import { testDeps } from '../support/test-deps.ts';
import { deliveredVote, waitingDelivery, waitingVote } from '../support/votes.ts';

test('a vote that 0.1.0 moved to the end of its queue expires 72 hours after it entered the queue', async () => {
  const deps = await testDeps();
  const added = await addServer(deps, { name: 'Alpha', address: 'a.example.org', port: 1_024 }, 'test');
  const serverId = new ObjectId(added.serverId);
  const now = deps.clock.now();
  const entered = (hours: number, more: Partial<Delivery> = {}) => {
    const at = after(now, -hours * HOUR);
    return waitingVote(serverId, `waits ${hours}`, at, { delivery: waitingDelivery(at, more) });
  };
  const moved = { queuedAt: after(now, -MINUTE) };
  const votes = [entered(73, moved), entered(10, moved), entered(20), deliveredVote(serverId, 'Steve', now)];
  await deps.votes.insertMany(votes);
  const queuedAt = async () =>
    (await deps.votes.find({ serverId }, { sort: { votedAt: 1 } }).toArray()).map(
      ({ delivery }) => delivery.queuedAt && (delivery.queuedAt.getTime() - now.getTime()) / HOUR,
    );
  for (let run = 0; run < 2; run += 1) {
    await settleQueueTimes(deps.mongo);
    expect(await queuedAt()).toEqual([-73, -20, -10, undefined]);
  }
  expect(await sweepDueWork(deps)).toMatchObject({ expired: 1 });
});
