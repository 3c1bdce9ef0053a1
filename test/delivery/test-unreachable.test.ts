import { describe, expect, it, vi } from 'vitest';
import { showListener } from '../../src/delivery/change-listener.ts';
import { testUnreachableListener } from '../../src/delivery/test-unreachable.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { deliveryBench } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';

/** An unreachable listener with three waiting votes, whose next test is due. */
async function unreachableBench() {
  const bench = await deliveryBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '34000' });
  const { deps, serverId, listener, clock, cast, drain } = bench;
  await listener.stop();
  for (const name of ['Steve', 'Alex', 'Kai']) await cast(name);
  expect(await drain()).toMatchObject({ kind: 'unreachable', waiting: 3 });
  clock.move(HOUR);
  await listener.start();
  const comeBack = () => testUnreachableListener(deps, serverId);
  const tests = async () => {
    const votes = await deps.votes.find({ serverId }).toArray();
    const attempts = votes.flatMap(({ delivery }) => delivery.attempts.filter(({ test }) => test));
    return attempts.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  };
  return { ...bench, tests, comeBack };
}

describe('A game server that comes back while its unreachable listener is tested', () => {
  it('causes another test at once if that test fails', async () => {
    const { listener, drain, tests, comeBack } = await unreachableBench();
    listener.behaviour = { onConnect: 'silence' };
    const draining = drain();
    await vi.waitUntil(() => listener.connections === 1, EVENTUALLY);
    expect(await comeBack()).toBe(true);
    await listener.stop();
    // The next test is planned by the schedule again.
    expect(await draining).toMatchObject({ kind: 'unreachable' });
    expect(await tests()).toMatchObject([
      { wokenBy: 'listener-test', code: 'closed-before-greeting' },
      { wokenBy: 'server-returned', code: 'connection-refused' },
    ]);
  });

  it('leaves its listener active if that test succeeds, even if no other vote waits', async () => {
    const { deps, serverId, listener, drain, comeBack } = await unreachableBench();
    await deps.votes.deleteMany({ serverId, username: { $ne: 'Steve' } });
    listener.stall();
    const draining = drain();
    await vi.waitUntil(() => listener.held === 1, EVENTUALLY);
    await comeBack();
    listener.release();
    await draining;
    expect(listener.votes).toHaveLength(1);
    expect(await showListener(deps, serverId)).toMatchObject({ state: 'active', waiting: 0 });
  });

  it('adds no job when its listener answers', async () => {
    const { deps, serverId } = await deliveryBench();
    expect(await testUnreachableListener(deps, serverId)).toBe(false);
  });
});
