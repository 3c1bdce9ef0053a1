import { beforeEach, describe, expect, it } from 'vitest';
import type { Taken } from '../../src/delivery/drain/attempt-record.ts';
import { endLostAttempts } from '../../src/delivery/drain/lost-attempts.ts';
import { recordOutcomes } from '../../src/delivery/drain/record-outcomes.ts';
import { takeVotes } from '../../src/delivery/drain/take-votes.ts';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import { voteTimeline } from '../../src/delivery/timeline/vote-timeline.ts';
import { type OutcomeCode, outcome } from '../../src/listeners/outcomes.ts';
import { after, HOUR, SECOND } from '../../src/platform/clock.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { type DeliveryBench, deliveryBenchesOfFile } from '../support/delivering.ts';

const deliveryBench = deliveryBenchesOfFile();

let bench: DeliveryBench;
let vote: Vote;

beforeEach(async () => {
  bench = await deliveryBench();
  bench.clock.stop(bench.clock.now());
  vote = await bench.cast('Steve');
});

/** Takes a vote as a worker does when it begins to send it. */
async function claim(): Promise<Taken> {
  const { deps, serverId } = bench;
  const listener = await deps.listeners.findOne({ serverId });
  const lease = { owner: 'this test', until: after(new Date(), HOUR) };
  const one = { most: 1, atOnce: 1 };
  const [taken] = listener ? await takeVotes(deps, { ...listener, lease }, { test: false }, one) : [];
  if (!taken) throw new Error('nothing is due');
  return taken;
}

async function end(taken: Taken, code: OutcomeCode): Promise<boolean> {
  const reached = code === 'acknowledged' ? 'acknowledged' : 'none';
  const ended = { taken, outcome: outcome(code, reached), durationMs: 42_000, endedAt: Date.now() };
  const [counts = false] = await recordOutcomes(bench.deps, [ended]);
  return counts;
}

/** A worker begins to send a vote, does nothing more, and its lease expires. */
async function lose(): Promise<Taken> {
  const taken = await claim();
  const { deps, serverId, clock } = bench;
  await deps.votes.updateOne({ serverId, _id: vote._id }, [
    { $set: { 'delivery.leaseUntil': { $subtract: ['$$NOW', 1] } } },
  ]);
  expect(await endLostAttempts(deps, serverId, null)).toHaveLength(1);
  clock.move(HOUR);
  return taken;
}

const delivery = async () => (await bench.vote(vote)).delivery;

const timeline = async () => voteTimeline(bench.deps, await bench.vote(vote), null, bench.clock.now());

describe('an acknowledgement of an attempt that was recorded as lost', () => {
  it('delivers the vote while another worker sends it', async () => {
    const first = await lose();
    await claim();

    expect(await end(first, 'acknowledged')).toBe(true);
    expect(await delivery()).toMatchObject({
      state: 'delivered',
      deliveredAt: bench.clock.now(),
      attemptCount: 2,
      ends: { ambiguous: 0, delivered: 1 },
      codes: { 'lease-ran-out': 0, acknowledged: 1 },
      attempts: [{ code: 'acknowledged', durationMs: 42_000, lateAt: bench.clock.now() }, {}],
    });
    expect((await delivery()).attempts[1]).not.toHaveProperty('code');
    expect(await delivery()).not.toHaveProperty('queuedAt');
    expect(await delivery()).not.toHaveProperty('leaseUntil');
  });

  it.each([
    ['connection-refused', 'transient', false],
    ['no-answer', 'ambiguous', true],
    ['vote-refused', 'vote-only', false],
    ['bad-signature', 'configuration', false],
    ['acknowledged', 'delivered', true],
  ] as const)('counts even if the other worker’s outcome is %s', async (code, of, twice) => {
    const first = await lose();
    const second = await claim();
    await end(first, 'acknowledged');
    const delivered = await delivery();
    bench.clock.move(SECOND);

    expect(await end(second, code)).toBe(true);
    expect(await delivery()).toEqual({
      ...delivered,
      attempts: [delivered.attempts[0], expect.objectContaining({ code, class: of })],
      ends: of === 'delivered' ? { ambiguous: 0, delivered: 2 } : expect.objectContaining({ delivered: 1 }),
      codes: expect.objectContaining({ [code]: code === 'acknowledged' ? 2 : 1 }),
    });
    expect((await timeline()).mayHaveArrivedTwice).toBe(twice);
    // Recorded once, although the acknowledgement of the first write was lost.
    const before = await delivery();
    expect(await end(second, code)).toBe(true);
    expect(await delivery()).toEqual(before);
  });

  it('does not count an attempt whose vote was given back meanwhile', async () => {
    const first = await lose();
    const second = await claim();
    await end(first, 'acknowledged');
    await end(second, 'stopped-before-written');
    expect(await delivery()).toMatchObject({ state: 'delivered', attemptCount: 1, ends: { none: 1 } });
  });

  it('is recorded on a vote that the other worker has delivered', async () => {
    const first = await lose();
    const second = await claim();
    await end(second, 'acknowledged');
    const { deliveredAt } = await delivery();
    bench.clock.move(SECOND);

    expect(await end(first, 'acknowledged')).toBe(true);
    expect(await delivery()).toMatchObject({
      state: 'delivered',
      deliveredAt,
      ends: { ambiguous: 0, delivered: 2 },
      attempts: [{ code: 'acknowledged', lateAt: bench.clock.now() }, { code: 'acknowledged' }],
    });
    const { events, mayHaveArrivedTwice } = await timeline();
    expect(mayHaveArrivedTwice).toBe(true);
    expect(events.map(({ kind }) => kind)).toEqual(['accepted', 'attempt', 'attempt', 'acknowledged-late']);
    expect(events[3]).toMatchObject({ number: 1 });
  });

  it('delivers a vote that has become unconfirmed', async () => {
    const first = await lose();
    await lose();
    await lose();
    expect((await delivery()).state).toBe('unconfirmed');
    await end(first, 'acknowledged');
    expect(await delivery()).toMatchObject({ state: 'delivered', ends: { ambiguous: 2, delivered: 1 } });
  });

  it('cancels a resend of a vote that was not known to be delivered, and no other resend', async () => {
    const first = await lose();
    await lose();
    await lose();
    await resendVote(bench.deps, vote._id, 'owner');
    await end(first, 'acknowledged');
    expect((await delivery()).state).toBe('delivered');
  });

  it('does not cancel a resend of a delivered vote', async () => {
    const first = await lose();
    await end(await claim(), 'acknowledged');
    await resendVote(bench.deps, vote._id, 'owner');

    await end(first, 'acknowledged');
    expect(await delivery()).toMatchObject({ state: 'waiting', ends: { ambiguous: 0, delivered: 2 } });
    expect(await delivery()).toHaveProperty('queuedAt');
  });

  it('does not change an attempt that sends the vote after a resend', async () => {
    const first = await lose();
    const second = await claim();
    await end(first, 'acknowledged');
    await resendVote(bench.deps, vote._id, 'owner');
    const third = await claim();

    await end(second, 'connection-refused');
    expect(await delivery()).toMatchObject({ state: 'sending', step: 0, ends: { transient: 1 } });
    await end(third, 'acknowledged');
    expect((await delivery()).state).toBe('delivered');
  });
});

it('any other outcome of an attempt that was recorded as lost changes nothing', async () => {
  const first = await lose();
  const before = await delivery();
  expect(await end(first, 'no-answer')).toBe(false);
  expect(await delivery()).toEqual(before);
});
