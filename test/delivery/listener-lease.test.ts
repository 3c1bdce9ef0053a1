import { expect, it } from 'vitest';
import { releaseLease, renewLease, takeLease } from '../../src/delivery/drain/listener-lease.ts';
import { deliveryBench } from '../support/delivering.ts';

const known = { revision: 1, learnt: {} };

it('a listener’s lease has one owner, who learns at its release that a wake-up job ran meanwhile', async () => {
  const { deps, serverId } = await deliveryBench();
  expect(await takeLease(deps, serverId, { owner: 'first' })).toMatchObject({
    serverId,
    lease: { owner: 'first' },
  });
  expect(await takeLease(deps, serverId, { owner: 'second' })).toMatchObject({ busy: { owner: 'first' } });
  expect(await renewLease(deps, serverId, 'first')).toMatchObject({ lease: { owner: 'first' } });
  expect(await releaseLease(deps, serverId, 'second', known)).toEqual({ called: false, changed: false });
  expect(await releaseLease(deps, serverId, 'first', known)).toEqual({ called: true, changed: false });

  expect(await takeLease(deps, serverId, { owner: 'third' })).toMatchObject({ lease: { owner: 'third' } });
  expect(await releaseLease(deps, serverId, 'third', known)).toEqual({ called: false, changed: false });
});

it('an expired lease can be taken by another worker, and then its first owner cannot renew it', async () => {
  const { deps, serverId } = await deliveryBench();
  await takeLease(deps, serverId, { owner: 'first' });
  await deps.listeners.updateOne({ serverId }, { $set: { 'lease.until': new Date(0) } });
  expect(await takeLease(deps, serverId, { owner: 'second' })).toMatchObject({ lease: { owner: 'second' } });
  expect(await renewLease(deps, serverId, 'first')).toBeNull();
});
