import { describe, expect, it } from 'vitest';
import { pauseListener, removeListener } from '../../src/delivery/listeners.ts';
import { relayDueWork } from '../../src/delivery/relay.ts';
import { HOUR, MINUTE } from '../../src/platform/clock.ts';
import { deliveryBench } from '../support/delivering.ts';

describe('A vote that waits', () => {
  it('is given up after 72 hours, and not before', async () => {
    const bench = await deliveryBench();
    await pauseListener(bench.platform, bench.serverId, 'test');
    const vote = await bench.cast('Steve');
    bench.clock.move(72 * HOUR - MINUTE);
    await relayDueWork(bench.platform);
    expect((await bench.vote(vote)).delivery.state).toBe('waiting');
    // The last word has mongod's clock, which no test moves.
    await bench.platform.votes.updateOne({ serverId: bench.serverId, _id: vote._id }, [
      { $set: { 'delivery.expiresAt': { $subtract: ['$$NOW', 1] } } },
    ]);
    bench.clock.move(2 * MINUTE);
    expect(await relayDueWork(bench.platform)).toMatchObject({ expired: 1 });
    expect((await bench.vote(vote)).delivery).toMatchObject({
      state: 'failed',
      events: [{ kind: 'expired' }],
    });
  });

  it('is let go when its listener is removed, even if that was cut short', async () => {
    const bench = await deliveryBench();
    const [first] = [await bench.cast('Steve')];
    expect(await removeListener(bench.platform, bench.serverId, 'test')).toBe(1);
    expect(first && (await bench.vote(first)).delivery.state).toBe('none');
  });
});
