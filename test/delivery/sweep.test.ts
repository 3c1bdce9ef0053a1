import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { pauseListener } from '../../src/delivery/change-listener.ts';
import { sweepDueWork } from '../../src/delivery/sweep.ts';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { deliveryBenchesOfFile } from '../support/delivering.ts';
import { listServers } from '../support/servers.ts';
import { insertWaitingVotes } from '../support/votes.ts';

const deliveryBench = deliveryBenchesOfFile();

describe('The sweep', () => {
  it('wakes a listener whose wake-up job was lost', async () => {
    const { deps, cast } = await deliveryBench();
    const { votedAt } = await cast('Steve');
    await deps.producer.settle();
    await deps.queues['test-listeners'].obliterate({ force: true });
    expect(await sweepDueWork(deps)).toEqual({ woken: 1, expired: 0, removed: 0 });
    expect(await deps.queues['test-listeners'].getJobCountByTypes('waiting', 'prioritized')).toBe(1);
    const [job] = await deps.queues['test-listeners'].getJobs(['waiting', 'prioritized']);
    expect(Date.parse(job?.data.relayedAt)).toBeGreaterThanOrEqual(votedAt.getTime());
  });

  it('does not wake a listener that has nothing due, is paused, or is drained by a worker', async () => {
    const { deps, cast, drain, listener, serverId } = await deliveryBench();
    expect(await sweepDueWork(deps)).toMatchObject({ woken: 0 });
    await cast('Steve');
    await deps.listeners.updateOne({ serverId }, [
      { $set: { lease: { owner: 'a worker', until: { $add: ['$$NOW', MINUTE] } } } },
    ]);
    expect(await sweepDueWork(deps)).toMatchObject({ woken: 0 });
    await deps.listeners.updateOne({ serverId }, { $set: { lease: null } });
    await listener.stop();
    await drain();
    expect(await sweepDueWork(deps)).toMatchObject({ woken: 0 });
    await pauseListener(deps, serverId, 'test');
    expect(await sweepDueWork(deps)).toMatchObject({ woken: 0 });
  });

  it('wakes a paused listener that has an unfinished attempt of a dead worker', async () => {
    const { deps, cast, serverId } = await deliveryBench();
    const { _id } = await cast('Steve');
    await pauseListener(deps, serverId, 'test');
    await deps.producer.settle();
    await deps.queues['test-listeners'].obliterate({ force: true });
    await deps.votes.updateOne(
      { serverId, _id },
      { $set: { 'delivery.state': 'sending', 'delivery.leaseUntil': new Date(0) } },
    );
    expect(await sweepDueWork(deps)).toMatchObject({ woken: 1 });
    expect(await deps.queues['test-listeners'].getJobCountByTypes('waiting', 'prioritized')).toBe(1);
  });

  it('counts the votes of all servers that lost their listener', async () => {
    const { deps, clock } = await deliveryBench();
    const servers = await listServers(deps, [{ name: 'One' }, { name: 'Two' }, { name: 'Three' }]);
    await insertWaitingVotes(deps, servers, 2);
    clock.move(5 * SECOND);
    expect(await sweepDueWork(deps)).toMatchObject({ removed: 6 });
  });

  it('takes votes out of the queue if the removal of their listener was interrupted', async () => {
    const { deps, cast, vote, serverId, clock } = await deliveryBench();
    const waiting = await cast('Steve');
    await deps.listeners.deleteOne({ serverId });
    clock.move(5 * SECOND);
    expect(await sweepDueWork(deps)).toMatchObject({ removed: 1 });
    expect((await vote(waiting)).delivery).toMatchObject({
      state: 'none',
      events: [{ kind: 'listener-removed' }],
    });
  });

  it('keeps a vote that another clock may have queued after it found no listener', async () => {
    const { deps, cast, vote, serverId, clock } = await deliveryBench();
    clock.stop(new Date());
    const waiting = await cast('Steve');
    await deps.listeners.deleteOne({ serverId });
    clock.move(3 * SECOND);
    expect(await sweepDueWork(deps)).toMatchObject({ removed: 0 });
    expect((await vote(waiting)).delivery.state).toBe('waiting');
  });

  it('examines one index key for each server with open work, however many votes wait', async () => {
    const { deps, cast, serverId, vote } = await deliveryBench();
    const template = await vote(await cast('Steve'));
    const copies = [];
    for (const id of [serverId, new ObjectId(), new ObjectId()]) {
      for (let n = 0; n < 500; n += 1) {
        copies.push({ ...template, _id: new ObjectId() as never, serverId: id, usernameKey: `player ${n}` });
      }
    }
    await deps.votes.insertMany(copies);
    const { db } = deps.mongo;
    await db.command({ profile: 2 });
    await sweepDueWork(deps);
    await db.command({ profile: 0 });
    const [scan] = await db
      .collection('system.profile')
      .find({ ns: /\.votes$/, 'command.pipeline': { $exists: true } })
      .toArray();
    expect(scan).toMatchObject({ planSummary: /DISTINCT_SCAN/, nreturned: 3 });
    expect(scan?.keysExamined).toBeLessThanOrEqual(7);
  });
});
