import { ObjectId, UUID } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { deliveryDelayMs } from '../../src/delivery/drain/delivery-delay.ts';
import type { Listener } from '../../src/listeners/listener.ts';
import { type OutcomeCode, outcome } from '../../src/listeners/outcomes.ts';
import { after, MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { Attempt, Delivery } from '../../src/votes/vote.ts';
import { storedVote, waitingDelivery } from '../support/votes.ts';

const VOTED_AT = new Date('2026-11-22T10:00:00.000Z');
const at = (ms: number) => after(VOTED_AT, ms);

type Case = {
  code?: OutcomeCode;
  test?: boolean;
  delivery?: Partial<Delivery>;
  released?: Listener['released'];
};

/** The delay of a vote whose attempt ended two minutes after it was cast. */
function delay({ code = 'acknowledged', test = false, delivery = {}, released = null }: Case = {}) {
  const vote = storedVote(new ObjectId(), 'Steve', VOTED_AT, {
    delivery: waitingDelivery(VOTED_AT, delivery),
  });
  const attempt: Attempt = {
    id: new UUID(),
    at: at(MINUTE),
    worker: 'worker',
    protocol: 'votifier-v2',
    revision: 1,
    test,
  };
  const ended = {
    taken: { vote, attempt },
    outcome: outcome(code, 'acknowledged'),
    durationMs: 5,
    endedAt: Date.now(),
  };
  return deliveryDelayMs(ended, { released }, at(2 * MINUTE));
}

describe('the delay of a vote', () => {
  test('starts when it is cast', () => {
    expect(delay()).toBe(2 * MINUTE);
  });

  test('starts when its listener was last resumed or reachable again, if that was later', () => {
    expect(delay({ released: { by: 'listener-back', at: at(110 * SECOND) } })).toBe(10 * SECOND);
    expect(delay({ released: { by: 'resume', at: at(-MINUTE) } })).toBe(2 * MINUTE);
  });

  test('starts when its quarantine is lifted', () => {
    expect(delay({ delivery: { queuedAt: at(MINUTE) } })).toBe(MINUTE);
  });

  test.each<OutcomeCode>([
    'lease-ran-out',
    'stopped-while-waiting',
    'outgoing-limited',
    'our-fault',
  ])('includes an earlier attempt that ended with %s, because Tallyport caused it', (code) => {
    expect(delay({ delivery: { codes: { [code]: 1 } } })).toBe(2 * MINUTE);
  });

  test('is measured for a Votifier v1 listener that closes without an answer too', () => {
    expect(delay({ code: 'sent-not-confirmed' })).toBe(2 * MINUTE);
  });
});

describe('the delay is not measured', () => {
  test('while a vote is not acknowledged', () => {
    expect(delay({ code: 'no-answer' })).toBeNull();
  });

  test.each<OutcomeCode>([
    'connection-refused',
    'no-answer',
    'bad-signature',
  ])('after an attempt that ended with %s at the listener', (code) => {
    expect(delay({ delivery: { codes: { [code]: 1, 'our-fault': 1 } } })).toBeNull();
  });

  test('for a vote that tests an unreachable listener', () => {
    expect(delay({ test: true })).toBeNull();
  });

  test('after a resend by hand', () => {
    const resent = { at: at(MINUTE), kind: 'resent', by: 'owner', from: 'failed' } as const;
    expect(delay({ delivery: { events: [resent] } })).toBeNull();
  });
});
