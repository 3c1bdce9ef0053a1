import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { pauseListener, removeListener, resumeListener } from '../../src/delivery/change-listener.ts';
import { QUEUE_ORDER } from '../../src/delivery/drain/attempt-record.ts';
import { createVoteSender, type SendVote } from '../../src/delivery/send-vote.ts';
import type { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { outcome } from '../../src/listeners/outcomes.ts';
import { HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { type DeliveryBench, deliveryBenchesOfFile, drainHere } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { insertWaitingVotes } from '../support/votes.ts';

const deliveryBench = deliveryBenchesOfFile();

/** Casts votes in rapid succession, and returns them in the order in which they go out. */
async function castSome({ cast, deps, serverId }: DeliveryBench, count: number): Promise<Vote[]> {
  const votes = await Promise.all(Array.from({ length: count }, (_, n) => cast(`player ${n}`)));
  const _id = { $in: votes.map((vote) => vote._id) };
  return deps.votes.find({ serverId, _id }, { sort: QUEUE_ORDER }).toArray();
}

/** Calls `act` again and again while the listener has received `count` votes, until `stop` is called or the test ends. */
function fromVoteOn(count: number, listener: VotifierListener, act: () => void): { stop(): void } {
  const watching = setInterval(() => {
    if (listener.votes.length >= count) act();
  }, 1);
  const stop = () => clearInterval(watching);
  onTestFinished(stop);
  return { stop };
}

const ids = (votes: Pick<Vote, '_id'>[]) => votes.map(({ _id }) => _id.toString());

describe('Draining a backlog', () => {
  it('takes votes with a lost attempt only if it sends them at once', async () => {
    const bench = await deliveryBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' });
    const cast = await castSome(bench, 40);
    const { votes } = bench.deps;
    const doubtful = cast.slice(12).map(({ _id }) => _id);
    const { serverId } = bench;
    await votes.updateMany({ serverId, _id: { $in: doubtful } }, { $set: { 'delivery.ambiguousEnds': 1 } });
    const { drain, listener } = bench;
    const watching = fromVoteOn(20, listener, () => listener.stall());
    listener.behaviour = { answerDelayMs: 2 };
    const draining = drain();
    await vi.waitUntil(() => listener.held >= 4, EVENTUALLY);
    // Nothing delays outcomes that are being recorded.
    const sending = () => votes.countDocuments({ serverId, 'delivery.state': 'sending' });
    await expect.poll(sending, { timeout: 3_000 }).toBe(4);
    watching.stop();
    listener.release();
    expect(await draining).toEqual({ kind: 'idle' });
    expect(ids(await votes.find({ 'delivery.state': 'delivered' }).toArray())).toHaveLength(40);
  });

  it('delivers each vote once, in the order of voting, and never five at once', async () => {
    const bench = await deliveryBench();
    const cast = await castSome(bench, 80);
    const { drain, listener, vote } = bench;
    const watching = fromVoteOn(20, listener, () => listener.stall());
    listener.behaviour = { answerDelayMs: 2 };
    const draining = drain();
    await vi.waitUntil(() => listener.held >= 4, EVENTUALLY);
    // The attempt of a fifth vote is on record already, so it could be sent at once.
    for (const one of cast.slice(0, 20)) await vote(one);
    expect(listener.held).toBe(4);
    watching.stop();
    listener.release();
    expect(await draining).toEqual({ kind: 'idle' });
    expect(listener.votes).toHaveLength(80);
    expect(new Set(listener.votes.map(({ uuid }) => uuid)).size).toBe(80);
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
    await castSome(bench, 80);
    bench.listener.behaviour = { answerDelayMs: 2 };
    fromVoteOn(20, bench.listener, () => {
      bench.listener.behaviour = { onConnect: 'silence' };
    });
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
    await castSome(bench, 80);
    bench.listener.behaviour = { answerDelayMs: 2 };
    const stop = new AbortController();
    fromVoteOn(20, bench.listener, () => stop.abort());
    expect(await bench.drain({ stop: stop.signal })).toEqual({ kind: 'stopped' });
    const { votes } = bench.deps;
    expect(await votes.countDocuments({ 'delivery.state': 'sending' })).toBe(0);
    await pauseListener(bench.deps, bench.serverId, 'test');
    expect(await bench.drain()).toEqual({ kind: 'paused' });
    expect(await votes.countDocuments({ 'delivery.state': 'waiting' })).toBe(
      80 - bench.listener.votes.length,
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
    await castSome(bench, 80);
    const { listener, deps } = bench;
    listener.behaviour = { answerDelayMs: 100 };
    let arrivedBefore = Number.POSITIVE_INFINITY;
    const find = deps.votes.find.bind(deps.votes);
    const finding = vi.spyOn(deps.votes, 'find').mockImplementation((...asked: Parameters<typeof find>) => {
      if (listener.votes.length < 20) return find(...asked);
      arrivedBefore = Math.min(arrivedBefore, listener.votes.length);
      throw new Error('connection lost');
    });
    await expect(bench.drain()).rejects.toThrow('connection lost');
    finding.mockRestore();
    expect(listener.votes.length).toBeLessThanOrEqual(arrivedBefore + 4);
    expect(await deps.votes.countDocuments({ 'delivery.state': 'sending' })).toBe(0);
    listener.behaviour = {};
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    expect(new Set(listener.votes.map(({ uuid }) => uuid)).size).toBe(80);
    expect(listener.votes).toHaveLength(80);
  });

  it('gives back votes that it took ahead when its time is over', async () => {
    const bench = await deliveryBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' });
    await castSome(bench, 80);
    const { listener, deps } = bench;
    listener.behaviour = { answerDelayMs: 2 };
    fromVoteOn(20, listener, () => {
      listener.behaviour = { answerDelayMs: 1_200 };
    });
    expect(await bench.drain({ budgetMs: 1_000 })).toEqual({ kind: 'more' });
    expect(listener.votes.length).toBeLessThanOrEqual(40);
    expect(await deps.votes.countDocuments({ 'delivery.state': 'sending' })).toBe(0);
    const delivered = await deps.votes.countDocuments({ 'delivery.state': 'delivered' });
    expect(delivered).toBe(listener.votes.length);
    expect(await deps.votes.countDocuments({ 'delivery.state': 'waiting' })).toBe(80 - delivered);
  });

  it('gives back votes that it took for a listener that becomes slow, and sends them later', async () => {
    const bench = await deliveryBench({ LISTENER_TIMEOUT_MS: '1000', LEASE_MS: '6000' });
    const cast = await castSome(bench, 80);
    const { listener, deps } = bench;
    listener.behaviour = { answerDelayMs: 2 };
    fromVoteOn(20, listener, () => {
      listener.behaviour = { answerDelayMs: 400 };
    });
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    const { votes } = deps;
    expect(await votes.countDocuments({ 'delivery.codes.our-fault': { $exists: true } })).toBe(0);
    expect(listener.votes.map(({ uuid }) => uuid).toSorted()).toEqual(ids(cast).toSorted());
    const deliveredAtOnce = { 'delivery.state': 'delivered', 'delivery.attemptCount': 1 } as const;
    expect(await votes.countDocuments(deliveredAtOnce)).toBe(80);
  });

  it('gives back votes that it took ahead when it stops, even if MongoDB fails once', async () => {
    const bench = await deliveryBench();
    await castSome(bench, 150);
    const { listener, deps } = bench;
    listener.behaviour = { answerDelayMs: 20 };
    const { votes } = deps;
    const failing = vi.spyOn(votes, 'bulkWrite').mockRejectedValueOnce(new Error('connection lost'));
    const stop = new AbortController();
    const watching = fromVoteOn(60, listener, () => listener.stall());
    const draining = Promise.allSettled([bench.drain({ stop: stop.signal })]);
    const takenAhead = async () =>
      listener.held === 4 && (await votes.countDocuments({ 'delivery.state': 'sending' })) > 4;
    await vi.waitUntil(takenAhead, EVENTUALLY);
    watching.stop();
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
    await castSome(bench, 80);
    const { listener, deps } = bench;
    const { votes } = deps;
    const find = votes.find.bind(votes);
    const lookedWith: number[] = [];
    vi.spyOn(votes, 'find').mockImplementation((...asked: Parameters<typeof find>) => {
      lookedWith.push(listener.held);
      return find(...asked);
    });
    listener.behaviour = { answerDelayMs: 2 };
    const watching = fromVoteOn(20, listener, () => listener.stall());
    const reading = vi.spyOn(deps.listeners, 'find');
    const draining = bench.drain();
    await vi.waitUntil(() => listener.held >= 4, EVENTUALLY);
    const reads = reading.mock.calls.length;
    // The drain continues meanwhile and reads the settings again.
    await vi.waitUntil(() => reading.mock.calls.length > reads, EVENTUALLY);
    expect(lookedWith.filter((held) => held >= 4)).toEqual([]);
    watching.stop();
    listener.release();
    expect(await draining).toEqual({ kind: 'idle' });
    expect(listener.votes).toHaveLength(80);
  });
});

describe('Draining a listener', () => {
  it('sends the waiting votes of a listener that was resumed while the last attempts ended', async () => {
    const bench = await deliveryBench();
    const { deps, serverId } = bench;
    await bench.cast('First');
    await bench.drain();
    const [refused, slow] = [await bench.cast('Refused'), await bench.cast('Slow')];
    const real = createVoteSender(deps.config);
    let isFirst = true;
    const send: SendVote = async (listener, vote, options) => {
      if (!isFirst) return real(listener, vote, options);
      if (vote.username === 'Refused') return outcome('bad-signature', 'written');
      await vi.waitUntil(async () => (await deps.listeners.findOne({ serverId }))?.pause, EVENTUALLY);
      isFirst = false;
      await resumeListener(deps, serverId, 'test');
      // The wake-up job of the resume.
      expect(await drainHere(deps, serverId)).toEqual({ kind: 'busy' });
      // Until the lease is renewed, which reads the new settings.
      const isRenewed = (until?: Date) => (until?.getTime() ?? 0) > resumedAt + deps.config.LEASE_MS;
      const resumedAt = Date.now();
      await vi.waitUntil(
        async () => isRenewed((await deps.listeners.findOne({ serverId }))?.lease?.until),
        EVENTUALLY,
      );
      return real(listener, vote, options);
    };
    expect(await drainHere(deps, serverId, {}, send)).toEqual({ kind: 'idle' });
    for (const vote of [refused, slow]) expect((await bench.vote(vote)).delivery.state).toBe('delivered');
  });

  it('does not send a vote again if its owner lowers the number of sendings during the attempt', async () => {
    const bench = await deliveryBench();
    await bench.cast('First');
    await bench.drain();
    bench.listener.behaviour = { onFrame: 'close' };
    const vote = await bench.cast('Steve');
    await bench.drain();
    expect((await bench.vote(vote)).delivery).toMatchObject({ state: 'waiting', ambiguousEnds: 1 });

    bench.clock.move(HOUR);
    bench.listener.behaviour = {};
    bench.listener.stall();
    const draining = bench.drain();
    await vi.waitUntil(() => bench.listener.held === 1, EVENTUALLY);
    await bench.set({ maxSendings: 1 });
    await draining;
    await bench.drain();
    expect((await bench.vote(vote)).delivery).toMatchObject({ state: 'unconfirmed', ambiguousEnds: 2 });
  });
});

it('votes that waited too long for a slot are given back with all later ones, and go out in queue order', async () => {
  const { deps, serverId, listener, cast, drain } = await deliveryBench();
  const { votes } = deps;
  await cast('First');
  await drain();
  await insertWaitingVotes(deps, [serverId], 500);
  /**
   * How many votes are taken and not received. After a vote is received, it stays taken until its outcome is recorded.
   */
  const waitingOrSending = async () => {
    const received = listener.votes.length;
    return 501 - (await votes.countDocuments({ serverId, 'delivery.state': 'waiting' })) - received;
  };

  // Taken votes that are left when others are given back. If the worker died now, they would have been tried before
  // those.
  const left: number[] = [];
  const bulkWrite = votes.bulkWrite.bind(votes);
  vi.spyOn(votes, 'bulkWrite').mockImplementation(async (updates, options) => {
    left.push((await waitingOrSending()) - updates.length);
    return bulkWrite(updates, options);
  });
  const drained = drain({ queue: 'drain-backlogs', budgetMs: MINUTE });
  for (let round = 1; round <= 2; round += 1) {
    await vi.waitUntil(async () => (await waitingOrSending()) >= 50, { ...EVENTUALLY, interval: 10 });
    // Half of the lease passes before the last taken votes get a slot.
    listener.behaviour = { answerDelayMs: 400 };
    const before = left.length;
    await vi.waitUntil(() => left.length > before, EVENTUALLY);
    listener.behaviour = {};
  }
  expect((await drained).kind).toBe('idle');

  const running = 4;
  expect(Math.max(...left)).toBeLessThanOrEqual(running);
  const sent = await votes.find({ serverId, username: { $ne: 'First' } }, { sort: QUEUE_ORDER }).toArray();
  const triedAt = sent.map(({ delivery }) => delivery.attempts[0]?.at.getTime() ?? 0);
  expect(triedAt).toEqual(triedAt.toSorted((a, b) => a - b));
  expect(listener.votes).toHaveLength(501);
});
