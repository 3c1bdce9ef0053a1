import { describe, expect, it } from 'vitest';
import { pauseListener, removeListener } from '../../src/delivery/change-listener.ts';
import { sweepDueWork } from '../../src/delivery/sweep.ts';
import { HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { deliveryBenchesOfFile } from '../support/delivering.ts';

const deliveryBench = deliveryBenchesOfFile();

describe('A waiting vote', () => {
  it('is given up after 72 hours, and not before', async () => {
    const bench = await deliveryBench();
    await pauseListener(bench.deps, bench.serverId, 'test');
    const vote = await bench.cast('Steve');
    bench.clock.move(72 * HOUR - MINUTE);
    await sweepDueWork(bench.deps);
    expect((await bench.vote(vote)).delivery.state).toBe('waiting');
    // mongod's clock decides, and no test can move it.
    await bench.deps.votes.updateOne({ serverId: bench.serverId, _id: vote._id }, [
      { $set: { 'delivery.expiresAt': { $subtract: ['$$NOW', 1] } } },
    ]);
    bench.clock.move(2 * MINUTE);
    expect(await sweepDueWork(bench.deps)).toMatchObject({ expired: 1 });
    expect((await bench.vote(vote)).delivery).toMatchObject({
      state: 'failed',
      events: [{ kind: 'expired' }],
    });
  });

  it('leaves the queue when its listener is removed, even if the removal is interrupted', async () => {
    const bench = await deliveryBench();
    const [first] = [await bench.cast('Steve')];
    expect(await removeListener(bench.deps, bench.serverId, 'test')).toBe(1);
    expect(first && (await bench.vote(first)).delivery.state).toBe('none');
  });

  it('stays in the queue if it was cast for a new listener while the earlier one was being removed', async () => {
    const bench = await deliveryBench();
    const { deps, clock, serverId } = bench;
    clock.stop(new Date());
    const before = await bench.cast('Steve');
    let since: Vote | undefined;
    const auditLog: typeof deps.auditLog = Object.create(deps.auditLog, {
      // Between the removal of the listener and the removal of its votes from the queue.
      insertOne: {
        async value(...entry: Parameters<typeof deps.auditLog.insertOne>) {
          clock.move(1);
          await bench.set({});
          since = await bench.cast('Alex');
          return deps.auditLog.insertOne(...entry);
        },
      },
    });
    expect(await removeListener({ ...deps, auditLog }, serverId, 'test')).toBe(1);
    expect((await bench.vote(before)).delivery.state).toBe('none');
    expect(since && (await bench.vote(since)).delivery.state).toBe('waiting');
  });

  it('is not taken out by a drain that finds no listener if it may have been queued later by another clock', async () => {
    const bench = await deliveryBench();
    const { deps, clock, serverId } = bench;
    clock.stop(new Date());
    const vote = await bench.cast('Steve');
    await deps.listeners.deleteOne({ serverId });
    clock.move(3 * SECOND);
    expect(await bench.drain()).toEqual({ kind: 'gone' });
    expect((await bench.vote(vote)).delivery.state).toBe('waiting');
    clock.move(2 * SECOND);
    await bench.drain();
    expect((await bench.vote(vote)).delivery.state).toBe('none');
  });
});
