import { describe, expect, it } from 'vitest';
import { QUEUE_FIELDS, queueOf } from '../../src/listeners/delivery-queues.ts';
import { deliveryBench } from '../support/delivering.ts';

/** A server whose listener has taken one vote. */
async function answeringBench() {
  const bench = await deliveryBench();
  const queue = async () => {
    const { serverId, deps } = bench;
    const listener = await deps.listeners.findOne({ serverId }, { projection: QUEUE_FIELDS });
    return listener && queueOf(listener);
  };
  expect(await queue()).toBe('test-listeners');
  await bench.cast('Steve');
  await bench.drain();
  expect(await queue()).toBe('forward-votes');
  return { ...bench, queue };
}

describe('A listener that has taken a vote', () => {
  it.each([
    ['host', { host: 'votes.example.org' }],
    ['token', { secret: 'another-token-1' }],
  ])('is tested again once it has another %s', async (_, changes) => {
    const { set, queue } = await answeringBench();
    await set(changes);
    expect(await queue()).toBe('test-listeners');
  });

  it('is not tested again when the same settings are stored again', async () => {
    const { set, queue } = await answeringBench();
    await set({ maxSendings: 1 });
    expect(await queue()).toBe('forward-votes');
  });
});
