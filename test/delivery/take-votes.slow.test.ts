import type { CommandOperationOptions, Document } from 'mongodb';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { QUEUE_ORDER, type Taken } from '../../src/delivery/drain/attempt-record.ts';
import { recordWithRetries } from '../../src/delivery/drain/record-outcomes.ts';
import { giveBackVotes, takeVotes } from '../../src/delivery/drain/take-votes.ts';
import { pauseListener, removeListener } from '../../src/delivery/listeners.ts';
import { type Outcome, outcome } from '../../src/listeners/outcomes.ts';
import { after, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { OPEN_WORK, type Vote } from '../../src/votes/vote.ts';
import { type DeliveryBench, deliveryBench } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';

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
    const later = { $set: { 'delivery.queuedAt': new Date() } };
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
    expect(JSON.stringify(queryPlanner.winningPlan)).toContain(`"indexName":"${OPEN_WORK}"`);
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

describe('Draining a backlog', () => {
  it('takes votes with a lost attempt only if it sends them at once', async () => {
    const bench = await deliveryBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' });
    const cast = await castSome(bench, 40);
    const { votes } = bench.deps;
    const doubtful = cast.slice(12).map(({ _id }) => _id);
    const { serverId } = bench;
    await votes.updateMany({ serverId, _id: { $in: doubtful } }, { $set: { 'delivery.ambiguousEnds': 1 } });
    const { drain, listener } = bench;
    const watching = setInterval(() => {
      if (listener.votes.length >= 20) listener.stall();
    }, 1);
    onTestFinished(() => clearInterval(watching));
    listener.behaviour = { answerDelayMs: 2 };
    const draining = drain();
    await vi.waitUntil(() => listener.held >= 4, EVENTUALLY);
    // Nothing delays outcomes that are being recorded.
    const sending = () => votes.countDocuments({ serverId, 'delivery.state': 'sending' });
    await expect.poll(sending, { timeout: 3_000 }).toBe(4);
    clearInterval(watching);
    listener.release();
    expect(await draining).toEqual({ kind: 'idle' });
    expect(ids(await votes.find({ 'delivery.state': 'delivered' }).toArray())).toHaveLength(40);
  });

  it('delivers each vote once, in the order of voting, and never five at once', async () => {
    const bench = await deliveryBench();
    const cast = await castSome(bench, 150);
    const { drain, listener, vote } = bench;
    const watching = setInterval(() => {
      if (listener.votes.length >= 60) listener.stall();
    }, 1);
    onTestFinished(() => clearInterval(watching));
    listener.behaviour = { answerDelayMs: 2 };
    const draining = drain();
    await vi.waitUntil(() => listener.held >= 4, EVENTUALLY);
    // The attempt of a fifth vote is on record already, so it could be sent at once.
    for (const one of cast.slice(0, 50)) await vote(one);
    expect(listener.held).toBe(4);
    clearInterval(watching);
    listener.release();
    expect(await draining).toEqual({ kind: 'idle' });
    expect(listener.votes).toHaveLength(150);
    expect(new Set(listener.votes.map(({ uuid }) => uuid)).size).toBe(150);
    // Votes that were taken together have the same attempt id.
    const begun = await bench.deps.votes.find({}, { sort: { votedAt: 1, _id: 1 } }).toArray();
    begun.sort((a, b) =>
      String(a.delivery.attempts[0]?.id).localeCompare(String(b.delivery.attempts[0]?.id)),
    );
    expect(ids(begun)).toEqual(ids(cast));
    for (const { delivery } of begun) {
      expect(delivery).toMatchObject({ state: 'delivered', attemptCount: 1, ends: { delivered: 1 } });
    }
  });

  it('gives back votes that it took ahead when the listener hangs and becomes unreachable', async () => {
    const bench = await deliveryBench();
    await castSome(bench, 120);
    bench.listener.behaviour = { answerDelayMs: 2 };
    const watching = setInterval(() => {
      if (bench.listener.votes.length >= 60) bench.listener.behaviour = { onConnect: 'silence' };
    }, 1);
    onTestFinished(() => clearInterval(watching));
    expect(await bench.drain()).toMatchObject({ kind: 'unreachable' });
    const { votes } = bench.deps;
    expect(await votes.countDocuments({ 'delivery.state': 'sending' })).toBe(0);
    const failed = await votes.countDocuments({ 'delivery.ends.transient': { $exists: true } });
    expect(failed).toBeGreaterThanOrEqual(3);
    // Three failures open the breaker. Up to three other attempts were running.
    expect(failed).toBeLessThanOrEqual(6);
    const waiting = { 'delivery.state': 'waiting', 'delivery.ends': {} } as const;
    expect(await votes.countDocuments({ ...waiting, 'delivery.attempts.0': { $exists: true } })).toBe(0);
  });

  it('gives back votes that it took ahead when it stops, and when the owner pauses', async () => {
    const bench = await deliveryBench();
    await castSome(bench, 150);
    bench.listener.behaviour = { answerDelayMs: 2 };
    const stop = new AbortController();
    const watching = setInterval(() => {
      if (bench.listener.votes.length >= 60) stop.abort();
    }, 1);
    onTestFinished(() => clearInterval(watching));
    expect(await bench.drain({ stop: stop.signal })).toEqual({ kind: 'stopped' });
    const { votes } = bench.deps;
    expect(await votes.countDocuments({ 'delivery.state': 'sending' })).toBe(0);
    await pauseListener(bench.deps, bench.serverId, 'test');
    expect(await bench.drain()).toEqual({ kind: 'paused' });
    expect(await votes.countDocuments({ 'delivery.state': 'waiting' })).toBe(
      150 - bench.listener.votes.length,
    );
  });

  it('sends no vote that it took ahead after it has noticed that the listener was removed', async () => {
    const bench = await deliveryBench();
    await castSome(bench, 150);
    const { clock, listener, deps, serverId } = bench;
    listener.behaviour = { answerDelayMs: 50 };
    let arrivedBefore = Number.POSITIVE_INFINITY;
    const update = deps.listeners.findOneAndUpdate.bind(deps.listeners);
    vi.spyOn(deps.listeners, 'findOneAndUpdate').mockImplementation(async (...asked) => {
      const found = await update(...(asked as Parameters<typeof update>));
      if (!found) arrivedBefore = Math.min(arrivedBefore, listener.votes.length);
      return found;
    });
    const draining = bench.drain();
    const taken = () => deps.votes.countDocuments({ 'delivery.state': 'sending' });
    await vi.waitUntil(async () => (await taken()) >= 40, EVENTUALLY);
    // Sending the taken votes takes longer than the time until the next renewal of the lease.
    listener.behaviour = { answerDelayMs: 500 };
    await removeListener(deps, serverId, 'test');
    expect(await draining).toEqual({ kind: 'busy' });
    expect(arrivedBefore).toBeLessThan(150);
    expect(listener.votes.length).toBeLessThanOrEqual(arrivedBefore + 4);
    expect(await deps.votes.countDocuments({ 'delivery.state': 'sending' })).toBe(0);
    // Votes that were cast just now may be for a new listener.
    clock.move(5 * SECOND);
    expect(await bench.drain()).toEqual({ kind: 'gone' });
    const delivered = await deps.votes.countDocuments({ 'delivery.state': 'delivered' });
    expect(delivered).toBe(listener.votes.length);
    expect(await deps.votes.countDocuments({ 'delivery.state': 'none' })).toBe(150 - delivered);
  });

  it('sends no vote that it took ahead after MongoDB has failed', async () => {
    const bench = await deliveryBench();
    await castSome(bench, 150);
    const { listener, deps } = bench;
    listener.behaviour = { answerDelayMs: 100 };
    let arrivedBefore = Number.POSITIVE_INFINITY;
    const find = deps.votes.find.bind(deps.votes);
    const finding = vi.spyOn(deps.votes, 'find').mockImplementation((...asked: Parameters<typeof find>) => {
      if (listener.votes.length < 60) return find(...asked);
      arrivedBefore = Math.min(arrivedBefore, listener.votes.length);
      throw new Error('connection lost');
    });
    await expect(bench.drain()).rejects.toThrow('connection lost');
    finding.mockRestore();
    expect(listener.votes.length).toBeLessThanOrEqual(arrivedBefore + 4);
    expect(await deps.votes.countDocuments({ 'delivery.state': 'sending' })).toBe(0);
    listener.behaviour = {};
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    expect(new Set(listener.votes.map(({ uuid }) => uuid)).size).toBe(150);
    expect(listener.votes).toHaveLength(150);
  });

  it('gives back votes that it took ahead when its time is over', async () => {
    const bench = await deliveryBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' });
    await castSome(bench, 150);
    const { listener, deps } = bench;
    listener.behaviour = { answerDelayMs: 2 };
    const watching = setInterval(() => {
      if (listener.votes.length >= 20) listener.behaviour = { answerDelayMs: 1_200 };
    }, 1);
    onTestFinished(() => clearInterval(watching));
    expect(await bench.drain({ budgetMs: 1_000 })).toEqual({ kind: 'more' });
    expect(listener.votes.length).toBeLessThanOrEqual(40);
    expect(await deps.votes.countDocuments({ 'delivery.state': 'sending' })).toBe(0);
    const delivered = await deps.votes.countDocuments({ 'delivery.state': 'delivered' });
    expect(delivered).toBe(listener.votes.length);
    expect(await deps.votes.countDocuments({ 'delivery.state': 'waiting' })).toBe(150 - delivered);
  });

  it('gives back votes that it took for a listener that becomes slow, and sends them later', async () => {
    const bench = await deliveryBench({ LISTENER_TIMEOUT_MS: '1000', LEASE_MS: '6000' });
    const cast = await castSome(bench, 150);
    const { listener, deps } = bench;
    listener.behaviour = { answerDelayMs: 2 };
    const watching = setInterval(() => {
      if (listener.votes.length >= 60) listener.behaviour = { answerDelayMs: 400 };
    }, 1);
    onTestFinished(() => clearInterval(watching));
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    const { votes } = deps;
    expect(await votes.countDocuments({ 'delivery.codes.our-fault': { $exists: true } })).toBe(0);
    expect(listener.votes.map(({ uuid }) => uuid).toSorted()).toEqual(ids(cast).toSorted());
    const deliveredAtOnce = { 'delivery.state': 'delivered', 'delivery.attemptCount': 1 } as const;
    expect(await votes.countDocuments(deliveredAtOnce)).toBe(150);
  });

  it('gives back votes that it took ahead when it stops, even if MongoDB fails once', async () => {
    const bench = await deliveryBench();
    await castSome(bench, 150);
    const { listener, deps } = bench;
    listener.behaviour = { answerDelayMs: 20 };
    const { votes } = deps;
    const failing = vi.spyOn(votes, 'bulkWrite').mockRejectedValueOnce(new Error('connection lost'));
    const stop = new AbortController();
    const watching = setInterval(() => {
      if (listener.votes.length >= 60) listener.stall();
    }, 1);
    onTestFinished(() => clearInterval(watching));
    const draining = Promise.allSettled([bench.drain({ stop: stop.signal })]);
    const takenAhead = async () =>
      listener.held === 4 && (await votes.countDocuments({ 'delivery.state': 'sending' })) > 4;
    await vi.waitUntil(takenAhead, EVENTUALLY);
    clearInterval(watching);
    stop.abort();
    listener.release();
    await draining;
    expect(failing).toHaveBeenCalled();
    expect(await votes.countDocuments({ 'delivery.state': 'sending' })).toBe(0);
    expect(await votes.countDocuments({ 'delivery.ambiguousEnds': { $gt: 0 } })).toBe(0);
    expect(await votes.countDocuments({ 'delivery.state': 'waiting' })).toBe(150 - listener.votes.length);
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    expect(listener.votes).toHaveLength(150);
  });

  it('does not look for votes while four are being sent and none may be taken ahead', async () => {
    const bench = await deliveryBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' });
    await bench.set({ maxSendings: 1 });
    await castSome(bench, 150);
    const { listener, deps } = bench;
    const { votes } = deps;
    const find = votes.find.bind(votes);
    const lookedWith: number[] = [];
    vi.spyOn(votes, 'find').mockImplementation((...asked: Parameters<typeof find>) => {
      lookedWith.push(listener.held);
      return find(...asked);
    });
    listener.behaviour = { answerDelayMs: 2 };
    const watching = setInterval(() => {
      if (listener.votes.length >= 20) listener.stall();
    }, 1);
    onTestFinished(() => clearInterval(watching));
    const reading = vi.spyOn(deps.listeners, 'find');
    const draining = bench.drain();
    await vi.waitUntil(() => listener.held >= 4, EVENTUALLY);
    const reads = reading.mock.calls.length;
    // The drain continues meanwhile and reads the settings again.
    await vi.waitUntil(() => reading.mock.calls.length > reads, EVENTUALLY);
    expect(lookedWith.filter((held) => held >= 4)).toEqual([]);
    clearInterval(watching);
    listener.release();
    expect(await draining).toEqual({ kind: 'idle' });
    expect(listener.votes).toHaveLength(150);
  });
});
