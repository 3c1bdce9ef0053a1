import { describe, expect, it, vi } from 'vitest';
import { diagnoseListener } from '../../src/delivery/diagnosis/diagnose-listener.ts';
import { createVoteSender } from '../../src/delivery/send-vote.ts';
import { answerTimeoutMs, attemptLeaseMs } from '../../src/listeners/delivery-limits.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { type DeliveryBench, deliveryBenchesOfFile } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';

const deliveryBench = deliveryBenchesOfFile();

/** A server whose listener has taken a vote before. */
async function knownBench(env: Record<string, string> = {}): Promise<DeliveryBench> {
  const bench = await deliveryBench(env);
  await bench.cast('First');
  await bench.drain();
  bench.listener.votes.length = 0;
  return bench;
}

const codesOf = ({ attempts }: { attempts: { code?: string | null }[] }) => attempts.map(({ code }) => code);

describe('the wait for an answer', () => {
  it('is 5 s, then 15 s, then 30 s, and the attempt’s lease outlasts it', () => {
    const config = { LEASE_MS: 30_000, LISTENER_TIMEOUT_MS: 5_000 };
    expect([0, 1, 2, 3].map((step) => answerTimeoutMs(5_000, step))).toEqual([5_000, 15_000, 30_000, 30_000]);
    expect([0, 1, 2, 3].map((step) => attemptLeaseMs(config, step))).toEqual([
      30_000, 40_000, 55_000, 55_000,
    ]);
  });

  it('grows with a vote’s ambiguous outcomes, and is then as long for the listener’s next vote from its first attempt on', async () => {
    const bench = await knownBench({ LISTENER_TIMEOUT_MS: '500' });
    // Longer than the first deadline, shorter than the second one of 1500 ms.
    bench.listener.behaviour = { answerDelayMs: 1_000 };
    const vote = await bench.cast('Steve');
    await bench.drain();
    expect(codesOf((await bench.vote(vote)).delivery)).toEqual(['no-answer']);
    bench.clock.move(HOUR);
    await bench.drain();
    expect(codesOf((await bench.vote(vote)).delivery)).toEqual(['no-answer', 'acknowledged']);

    bench.listener.votes.length = 0;
    const next = await bench.cast('Alex');
    await bench.drain();
    expect(codesOf((await bench.vote(next)).delivery)).toEqual(['acknowledged']);
    expect(bench.listener.votes).toHaveLength(1);
    const { deps, serverId } = bench;
    const withSend = { ...deps, send: createVoteSender(deps.config) };
    expect(await diagnoseListener(withSend, serverId)).toMatchObject({ fault: null, confirmed: true });
  });

  it('starts again at the shortest when the settings change', async () => {
    const bench = await knownBench();
    bench.listener.behaviour = { onFrame: 'silence' };
    await bench.cast('Steve');
    await bench.drain();
    const stepNow = async () => (await bench.deps.listeners.findOne({}))?.answerStep;
    expect(await stepNow()).toBe(1);
    await bench.set({});
    expect(await stepNow()).toBe(1);
    await bench.set({ serviceName: 'Elsewhere' });
    expect(await stepNow()).toBe(0);
  });

  it('is shorter than the lease that is recorded with the attempt', async () => {
    const bench = await knownBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' });
    const vote = await bench.cast('Steve');
    const { votes } = bench.deps;
    const mine = { serverId: bench.serverId, _id: vote._id };
    await votes.updateOne(mine, { $set: { 'delivery.ambiguousEnds': 2 } });
    bench.listener.stall();
    const draining = bench.drain();
    await vi.waitUntil(() => bench.listener.held === 1, EVENTUALLY);
    const [left] = await votes
      .aggregate<{ ms: number }>([
        { $match: mine },
        { $project: { ms: { $subtract: ['$delivery.leaseUntil', '$$NOW'] } } },
      ])
      .toArray();
    // 40 s, and the 40 s more that the third attempt waits for the answer.
    expect(left?.ms).toBeGreaterThan(48_000);
    expect(left?.ms).toBeLessThanOrEqual(80_000);
    bench.listener.release();
    await draining;
  });

  it('does not let the listener’s lease expire, however long it is', async () => {
    // The third attempt waits 7.2 s for its answer, which is longer than a lease.
    const bench = await knownBench({ LISTENER_TIMEOUT_MS: '1200', LEASE_MS: '6800' });
    const vote = await bench.cast('Steve');
    const { votes, listeners } = bench.deps;
    await votes.updateOne({ _id: vote._id }, { $set: { 'delivery.ambiguousEnds': 2 } });
    bench.listener.stall();
    const draining = bench.drain();
    await vi.waitUntil(() => bench.listener.held === 1, EVENTUALLY);
    const first = (await listeners.findOne({}))?.lease?.until;
    const isOver = { $expr: { $gt: ['$$NOW', first] } };
    const polled = { ...EVENTUALLY, interval: 200 };
    await vi.waitUntil(async () => (await listeners.countDocuments(isOver)) === 1, polled);
    expect(await bench.drain()).toEqual({ kind: 'busy' });
    bench.listener.release();
    expect(await draining).toEqual({ kind: 'idle' });
    expect((await bench.vote(vote)).delivery.state).toBe('delivered');
  });
});

describe('the number of sendings without an answer that an owner chooses', () => {
  it.each([1, 2, 3])('%i: the vote is sent as often, and is then unconfirmed', async (maxSendings) => {
    const bench = await knownBench();
    await bench.set({ maxSendings });
    bench.listener.behaviour = { onFrame: 'close' };
    const vote = await bench.cast('Steve');
    for (let n = 0; n < 4; n += 1) {
      await bench.drain();
      bench.clock.move(HOUR);
    }
    expect(bench.listener.votes).toHaveLength(maxSendings);
    expect((await bench.vote(vote)).delivery).toMatchObject({
      state: 'unconfirmed',
      ambiguousEnds: maxSendings,
    });
  });

  it('is unchanged if new settings do not contain it', async () => {
    const bench = await deliveryBench();
    const chosen = async () => (await bench.deps.listeners.findOne({}))?.maxSendings;
    expect(await chosen()).toBe(3);
    await bench.set({ maxSendings: 1 });
    await bench.set({ serviceName: 'Elsewhere' });
    expect(await chosen()).toBe(1);
    await expect(bench.set({ maxSendings: 4 })).rejects.toMatchObject({
      errors: { maxSendings: expect.stringContaining('1 to 3') },
    });
  });

  it('also applies to votes that already wait for another sending', async () => {
    const bench = await knownBench();
    bench.listener.behaviour = { onFrame: 'close' };
    const vote = await bench.cast('Steve');
    await bench.drain();
    expect((await bench.vote(vote)).delivery).toMatchObject({ state: 'waiting', ambiguousEnds: 1 });
    await bench.set({ maxSendings: 1 });
    const { delivery } = await bench.vote(vote);
    expect(delivery.state).toBe('unconfirmed');
    expect(delivery).not.toHaveProperty('queuedAt');
  });
});
