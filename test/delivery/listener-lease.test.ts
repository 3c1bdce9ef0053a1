import { expect, it } from 'vitest';
import { releaseLease, renewLease, takeLease } from '../../src/delivery/drain/listener-lease.ts';
import { deliveryBench } from '../support/delivering.ts';

it('a listener’s lease has one owner, who hears at its release of a wake-up that came meanwhile', async () => {
  const { platform, serverId } = await deliveryBench();
  expect(await takeLease(platform, serverId, 'first')).toMatchObject({ serverId, lease: { owner: 'first' } });
  expect(await takeLease(platform, serverId, 'second')).toBe('busy');
  expect(await renewLease(platform, serverId, 'first')).toMatchObject({ lease: { owner: 'first' } });
  expect(await releaseLease(platform, serverId, 'second', {})).toBeNull();
  expect(await releaseLease(platform, serverId, 'first', {})).toEqual({ revision: 1, called: true });

  expect(await takeLease(platform, serverId, 'third')).toMatchObject({ lease: { owner: 'third' } });
  expect(await releaseLease(platform, serverId, 'third', {})).toEqual({ revision: 1, called: false });
});

it('a lease that has expired is taken over, and its first owner cannot renew it', async () => {
  const { platform, serverId } = await deliveryBench();
  await takeLease(platform, serverId, 'first');
  await platform.listeners.updateOne({ serverId }, { $set: { 'lease.until': new Date(0) } });
  expect(await takeLease(platform, serverId, 'second')).toMatchObject({ lease: { owner: 'second' } });
  expect(await renewLease(platform, serverId, 'first')).toBeNull();
});
