import { expect, it } from 'vitest';
import { LeasedListener } from '../../src/delivery/drain/leased-listener.ts';
import { openListener } from '../../src/delivery/send-vote.ts';
import type { Batcher } from '../../src/platform/batching/batcher.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { deliveryBench } from '../support/delivering.ts';

it('a change of a listener that could not be stored does not prevent later changes', async () => {
  const { deps, serverId, clock } = await deliveryBench();
  const owner = 'this test';
  const lease = { owner, until: after(new Date(), MINUTE) };
  await deps.listeners.updateOne({ serverId }, { $set: { lease } });
  const stored = () => deps.listeners.findOne({ serverId });
  const listener = await stored();
  if (!listener) throw new Error('no listener');
  let isAway = true;
  const batcher: Batcher = {
    ...deps.batcher,
    load: (...asked) => (isAway ? Promise.reject(new Error('connection lost')) : deps.batcher.load(...asked)),
  };
  const open = (found: typeof listener) => openListener(deps.secrets, found);
  const leased = new LeasedListener(
    { ...deps, batcher, open },
    { owner, since: performance.now(), facts: Promise.resolve([null, false]) },
    listener,
    open(listener),
  );
  const until = after(clock.now(), MINUTE);
  await expect(leased.limit({ until, by: 'account' })).rejects.toThrow('connection lost');
  isAway = false;
  await leased.limit({ until, by: 'destination' });
  expect((await stored())?.limited).toMatchObject({ by: 'destination' });
});
