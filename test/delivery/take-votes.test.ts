import type { CommandOperationOptions, Document } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { QUEUE_ORDER, type Taken } from '../../src/delivery/drain/attempt-record.ts';
import { recordWithRetries } from '../../src/delivery/drain/record-outcomes.ts';
import { giveBackVotes, takeVotes } from '../../src/delivery/drain/take-votes.ts';
import { type Outcome, outcome } from '../../src/listeners/outcomes.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { DUE_VOTES, type Vote } from '../../src/votes/vote.ts';
import { type DeliveryBench, deliveryBenchesOfFile } from '../support/delivering.ts';

const deliveryBench = deliveryBenchesOfFile();

/** Casts votes in rapid succession, and returns them in the order in which they go out. */
async function castSome({ cast, deps, serverId }: DeliveryBench, count: number): Promise<Vote[]> {
  const votes = await Promise.all(Array.from({ length: count }, (_, n) => cast(`player ${n}`)));
  const _id = { $in: votes.map((vote) => vote._id) };
  return deps.votes.find({ serverId, _id }, { sort: QUEUE_ORDER }).toArray();
}

/** The listener as the owner of its lease reads it. */
async function listenerOf({ deps, serverId }: DeliveryBench) {
  const listener = await deps.listeners.findOne({ serverId });
  if (!listener) throw new Error('no listener');
  return { ...listener, lease: { owner: 'this test', until: after(new Date(), MINUTE) } };
}

const ids = (votes: Pick<Vote, '_id'>[]) => votes.map(({ _id }) => _id.toString());

/** Records an outcome as a drain does that is not interrupted. */
function record({ deps }: DeliveryBench, taken: Taken, end: Outcome): Promise<boolean> {
  const ended = { taken, outcome: end, durationMs: 3, endedAt: Date.now() };
  return recordWithRetries(deps, ended, new AbortController().signal);
}

describe('Taking votes', () => {
  it('takes the next votes in queue order and records an attempt on each', async () => {
    const bench = await deliveryBench();
    const cast = await castSome(bench, 5);
    const taken = await takeVotes(
      bench.deps,
      await listenerOf(bench),
      { test: false },
      { most: 3, atOnce: 0 },
    );
    expect(ids(taken.map(({ vote }) => vote))).toEqual(ids(cast.slice(0, 3)));
    for (const { vote, attempt } of taken) {
      const { delivery } = await bench.vote(vote);
      expect(delivery).toMatchObject({ state: 'sending', attemptCount: 1 });
      expect(delivery.attempts.map(({ id }) => id)).toEqual([attempt.id]);
      expect(delivery.leaseUntil?.getTime()).toBeGreaterThan(Date.now());
      const { state, attemptCount, attempts } = vote.delivery;
      expect({ state, attemptCount, ids: attempts.map(({ id }) => id) }).toEqual({
        state: 'sending',
        attemptCount: 1,
        ids: [attempt.id],
      });
    }
    const states = await Promise.all(
      cast.slice(3).map(async (vote) => (await bench.vote(vote)).delivery.state),
    );
    expect(states).toEqual(['waiting', 'waiting']);
  });

  it('takes no vote twice, however many workers take votes at the same time', async () => {
    const bench = await deliveryBench();
    await castSome(bench, 6);
    const listener = await listenerOf(bench);
    const both = await Promise.all(
      [1, 2].map(() => takeVotes(bench.deps, listener, { test: false }, { most: 6, atOnce: 0 })),
    );
    const taken = ids(both.flat().map(({ vote }) => vote));
    expect(taken).toHaveLength(6);
    expect(new Set(taken).size).toBe(6);
    for (const { vote } of both.flat()) expect((await bench.vote(vote)).delivery.attempts).toHaveLength(1);
  });

  it('takes nothing after the lease has expired by mongod’s clock, so that another worker may send in order', async () => {
    const bench = await deliveryBench();
    const cast = await castSome(bench, 3);
    const leased = await listenerOf(bench);
    // This worker was suspended: it still has the lease in memory.
    const expired = { ...leased, lease: { ...leased.lease, until: new Date(Date.now() - 1) } };
    for (const most of [1, 3]) {
      expect(await takeVotes(bench.deps, expired, { test: false }, { most, atOnce: 4 })).toEqual([]);
    }
    for (const vote of cast) {
      expect((await bench.vote(vote)).delivery).toMatchObject({ state: 'waiting', attempts: [] });
    }
    expect(await takeVotes(bench.deps, leased, { test: false }, { most: 3, atOnce: 4 })).toHaveLength(3);
  });

  it('takes a vote with a lost attempt only if it is sent at once', async () => {
    const bench = await deliveryBench();
    const cast = await castSome(bench, 5);
    const { votes } = bench.deps;
    for (const { _id, serverId } of cast.slice(2, 4)) {
      await votes.updateOne({ _id, serverId }, { $set: { 'delivery.ambiguousEnds': 1 } });
    }
    const claim = async (most: number, atOnce: number) => {
      const size = { most, atOnce };
      const taken = await takeVotes(bench.deps, await listenerOf(bench), { test: false }, size);
      return ids(taken.map(({ vote }) => vote));
    };
    expect(await claim(5, 1)).toEqual(ids(cast.slice(0, 2)));
    expect(await claim(5, 0)).toEqual([]);
    expect(await claim(1, 0)).toEqual([]);
    expect(await claim(5, 1)).toEqual(ids(cast.slice(2, 3)));
    expect(await claim(5, 4)).toEqual(ids(cast.slice(3)));
  });

  it('takes a vote before its last allowed sending only if it is sent at once', async () => {
    const bench = await deliveryBench();
    const cast = await castSome(bench, 5);
    const claim = async (most: number, atOnce: number, maxSendings: number) => {
      const listener = { ...(await listenerOf(bench)), maxSendings };
      const taken = await takeVotes(bench.deps, listener, { test: false }, { most, atOnce });
      return ids(taken.map(({ vote }) => vote));
    };
    expect(await claim(5, 0, 1)).toEqual([]);
    expect(await claim(5, 2, 1)).toEqual(ids(cast.slice(0, 2)));
    expect(await claim(5, 0, 2)).toEqual(ids(cast.slice(2)));
  });

  it('takes no vote that was sent as often as its owner allows', async () => {
    const bench = await deliveryBench();
    const [first, ...others] = await castSome(bench, 2);
    if (!first) throw new Error('not cast');
    const { votes } = bench.deps;
    const { _id, serverId } = first;
    await votes.updateOne({ _id, serverId }, { $set: { 'delivery.ambiguousEnds': 1 } });
    const listener = { ...(await listenerOf(bench)), maxSendings: 1 };
    for (const size of [
      { most: 1, atOnce: 4 },
      { most: 4, atOnce: 4 },
    ]) {
      const taken = await takeVotes(bench.deps, listener, { test: false }, size);
      expect(ids(taken.map(({ vote }) => vote))).toEqual(ids(others));
      await giveBackVotes(bench.deps, listener, taken);
    }
  });

  it('leaves no vote taken if MongoDB failed half-way', async () => {
    const bench = await deliveryBench();
    const cast = await castSome(bench, 3);
    const { deps } = bench;
    const votes = Object.create(deps.votes) as typeof deps.votes;
    const command = async (claim: Document) => {
      const [{ q, u }] = claim.updates;
      await deps.votes.updateMany({ ...q, _id: { $in: q._id.$in.slice(0, 2) } }, u);
      throw new Error('connection lost');
    };
    Object.defineProperty(votes, 'db', { value: { command } });
    const taking = takeVotes(
      { ...deps, votes },
      await listenerOf(bench),
      { test: false },
      { most: 3, atOnce: 0 },
    );
    await expect(taking).rejects.toThrow('connection lost');
    for (const vote of cast) {
      expect((await bench.vote(vote)).delivery).toMatchObject({ state: 'waiting', attempts: [], ends: {} });
    }
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    expect(bench.listener.votes.map(({ uuid }) => uuid)).toEqual(ids(cast));
  });

  it('leaves no vote taken if MongoDB’s answer was lost', async () => {
    const bench = await deliveryBench();
    const [vote] = await castSome(bench, 1);
    const { deps } = bench;
    const votes = Object.create(deps.votes) as typeof deps.votes;
    const command = async (claim: Document) => {
      await deps.votes.db.command(claim);
      throw new Error('connection lost');
    };
    Object.defineProperty(votes, 'db', { value: { command } });
    const one = { most: 1, atOnce: 4 };
    const taking = takeVotes({ ...deps, votes }, await listenerOf(bench), { test: false }, one);
    await expect(taking).rejects.toThrow('connection lost');
    expect((await bench.vote(vote as Vote)).delivery).toMatchObject({ state: 'waiting', attempts: [] });
    await bench.drain();
    expect((await bench.vote(vote as Vote)).delivery).toMatchObject({ state: 'delivered', attemptCount: 1 });
  });

  it('takes votes in queue order, so that an interruption leaves no gap, and reads no more than it takes', async () => {
    const bench = await deliveryBench();
    const [first, ...others] = await castSome(bench, 40);
    if (!first) throw new Error('not cast');
    const { votes } = bench.deps;
    const later = { $set: { 'delivery.nextAt': new Date() } };
    await votes.updateOne({ _id: first._id, serverId: first.serverId }, later);
    const { db } = votes;
    const sent: Document[] = [];
    const command = (one: Document, options: CommandOperationOptions) => {
      sent.push(one);
      return db.command(one, options);
    };
    const watched = Object.create(votes) as typeof votes;
    Object.defineProperty(watched, 'db', { value: { command } });
    const listener = await listenerOf(bench);
    const claim = (most: number) =>
      takeVotes({ ...bench.deps, votes: watched }, listener, { test: false }, { most, atOnce: 0 });

    expect(ids((await claim(10)).map(({ vote }) => vote))).toEqual(ids(others.slice(0, 10)));
    expect(ids((await claim(40)).map(({ vote }) => vote))).toEqual(ids([...others.slice(10), first]));
    const [taken] = sent;
    const update = { update: votes.collectionName, updates: taken?.updates };
    const { queryPlanner, executionStats } = await db.command({ explain: update });
    expect(JSON.stringify(queryPlanner.winningPlan)).toContain(`"indexName":"${DUE_VOTES}"`);
    expect(JSON.stringify(queryPlanner.winningPlan)).toContain('"direction":"forward"');
    expect(executionStats.totalKeysExamined).toBeLessThanOrEqual(11);
  });

  it('gives back votes that were not sent as if they had never been taken', async () => {
    const bench = await deliveryBench();
    const [first, second] = await castSome(bench, 2);
    const taken = await takeVotes(
      bench.deps,
      await listenerOf(bench),
      { test: false },
      { most: 2, atOnce: 0 },
    );
    await giveBackVotes(bench.deps, await listenerOf(bench), taken);
    for (const vote of [first, second]) {
      if (!vote) throw new Error('not cast');
      const { delivery } = await bench.vote(vote);
      expect(delivery).toMatchObject({
        state: 'waiting',
        attemptCount: 0,
        attempts: [],
        ends: {},
        dueBy: 'cast',
      });
      expect(delivery).not.toHaveProperty('leaseUntil');
      expect(delivery.queuedAt).toEqual(vote.delivery.queuedAt);
    }
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    expect(bench.listener.votes.map(({ uuid }) => uuid)).toEqual(ids([first, second] as Vote[]));
  });

  it('keeps the attempts if another worker may have begun with later votes since', async () => {
    const bench = await deliveryBench();
    const cast = await castSome(bench, 3);
    const held = await listenerOf(bench);
    const taken = await takeVotes(bench.deps, held, { test: false }, { most: 2, atOnce: 0 });
    // Another worker took the expired lease and sent the votes that were left in the queue.
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    await giveBackVotes(bench.deps, { ...held, lease: { ...held.lease, until: new Date() } }, taken);
    for (const vote of cast.slice(0, 2)) {
      expect((await bench.vote(vote)).delivery).toMatchObject({
        state: 'waiting',
        attemptCount: 0,
        ambiguousEnds: 0,
        attempts: [{ code: 'stopped-before-written' }],
        dueBy: 'given-back',
      });
    }
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    expect(bench.listener.votes.map(({ uuid }) => uuid)).toEqual([2, 0, 1].map((n) => ids(cast)[n]));
  });

  it('does not change attempts that were recorded as lost meanwhile', async () => {
    const bench = await deliveryBench();
    await castSome(bench, 1);
    const taken = await takeVotes(
      bench.deps,
      await listenerOf(bench),
      { test: false },
      { most: 2, atOnce: 0 },
    );
    const [one] = taken;
    if (!one) throw new Error('nothing claimed');
    await record(bench, one, outcome('lease-ran-out', 'none'));
    await giveBackVotes(bench.deps, await listenerOf(bench), taken);
    expect((await bench.vote(one.vote)).delivery).toMatchObject({ attemptCount: 1, ambiguousEnds: 1 });
  });
});

describe('Recording outcomes together', () => {
  it('writes each outcome, and returns for each whether it counts', async () => {
    const bench = await deliveryBench();
    await castSome(bench, 5);
    const taken = await takeVotes(
      bench.deps,
      await listenerOf(bench),
      { test: false },
      { most: 5, atOnce: 0 },
    );
    // The attempt of one vote was removed meanwhile. Its outcome must not be recorded, and the others must be.
    const gone = taken[3]?.vote;
    if (!gone) throw new Error('nothing claimed');
    await bench.deps.votes.updateOne(
      { serverId: bench.serverId, _id: gone._id },
      { $set: { 'delivery.state': 'waiting', 'delivery.attempts': [] } },
    );
    const stand = await Promise.all(
      taken.map((one) => record(bench, one, outcome('acknowledged', 'acknowledged'))),
    );
    expect(stand).toEqual([true, true, true, false, true]);
    for (const [index, { vote }] of taken.entries()) {
      const { delivery } = await bench.vote(vote);
      expect(delivery.state).toBe(index === 3 ? 'waiting' : 'delivered');
      if (index !== 3) expect(delivery).toMatchObject({ ends: { delivered: 1 } });
    }
  });
});
