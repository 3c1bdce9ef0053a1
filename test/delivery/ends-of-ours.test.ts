import { describe, expect, test } from 'vitest';
import { healthAfter, type ListenerHealth } from '../../src/delivery/drain/breaker.ts';
import { REACHABLE } from '../../src/listeners/listener.ts';
import { listenerState } from '../../src/listeners/listener-state.ts';
import { type OutcomeCode, outcome } from '../../src/listeners/outcomes.ts';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { deliveryBench } from '../support/delivering.ts';

const NOW = new Date('2026-11-22T10:00:00.000Z');
const SCHEDULE = [5 * SECOND, 30 * SECOND, 2 * MINUTE];
const OURS: OutcomeCode[] = ['lease-ran-out', 'stopped-while-waiting', 'our-fault'];

describe.each(OURS)('an attempt that ends with %s', (code) => {
  const end = {
    ...outcome(code, 'none'),
    answerStep: 0,
    neededStep: 0,
    protocol: 'votifier-v2',
    isLastSending: false,
  } as const;

  test('does not change the state of the listener, however often it happens', () => {
    const before: ListenerHealth = {
      breaker: { failures: 2, tests: 0, code: 'no-answer' },
      pause: null,
      voteFaults: 0,
      released: null,
      acknowledgedAt: null,
      answerStep: 0,
    };
    expect(healthAfter(before, { ...end, test: false }, NOW, SCHEDULE)).toBe(before);
  });

  test('postpones the next test if it was a test of an unreachable listener', () => {
    const open: ListenerHealth = {
      breaker: { failures: 3, tests: 1, code: 'no-answer', openSince: NOW, nextTestAt: NOW },
      pause: null,
      voteFaults: 0,
      released: null,
      acknowledgedAt: null,
      answerStep: 0,
    };
    const { breaker } = healthAfter(open, { ...end, test: true }, NOW, SCHEDULE);
    expect(breaker).toMatchObject({ failures: 3, tests: 1, openSince: NOW, code: 'no-answer' });
    expect(breaker.nextTestAt?.getTime()).toBeGreaterThan(NOW.getTime() + 20 * SECOND);
  });
});

test('after a worker died with four running attempts, the listener stays reachable and its votes arrive', async () => {
  const bench = await deliveryBench();
  const { deps, serverId } = bench;
  const votes = await Promise.all(['Steve', 'Alex', 'Notch', 'Jeb'].map((name) => bench.cast(name)));
  await deps.votes.updateMany({ serverId }, [
    {
      $set: {
        'delivery.state': 'sending',
        'delivery.leaseUntil': { $subtract: ['$$NOW', 1] },
        'delivery.attemptCount': 1,
        'delivery.attempts': [
          {
            id: '$_id',
            at: '$votedAt',
            worker: 'a dead one',
            protocol: 'votifier-v2',
            revision: 1,
            test: false,
          },
        ],
      },
    },
    { $unset: 'delivery.nextAt' },
  ]);
  expect(await bench.drain()).toEqual({ kind: 'idle' });
  const listener = await deps.listeners.findOne({ serverId });
  if (!listener) throw new Error('no listener');
  expect(listenerState(listener)).toBe('active');
  expect(listener.breaker).toEqual(REACHABLE);

  bench.clock.move(10 * SECOND);
  await bench.drain();
  for (const vote of votes) expect((await bench.vote(vote)).delivery.state).toBe('delivered');
});
