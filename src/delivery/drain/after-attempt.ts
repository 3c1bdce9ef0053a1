import type { Cause } from '../../listeners/causes.ts';
import { delayAt, maxSendingsOf } from '../../listeners/delivery-limits.ts';
import type { Listener } from '../../listeners/listener.ts';
import type { Outcome } from '../../listeners/outcomes.ts';
import { after } from '../../platform/clock.ts';
import type { Taken } from './attempt-record.ts';

/** Removed from a vote when it leaves the queue. */
export const DELIVERY_ENDED = {
  'delivery.queuedAt': '',
  'delivery.expiresAt': '',
  'delivery.leaseUntil': '',
  'delivery.requestId': '',
  'delivery.nextAt': '',
  'delivery.dueBy': '',
} as const;

/** An attempt whose outcome has the class `none` does not count. */
export const NOT_COUNTED = { 'delivery.attemptCount': -1 } as const;

type Change = {
  set: Record<string, unknown>;
  unset: Record<string, ''>;
  inc?: Record<string, number>;
};

/** Null if the vote is delivered or waits again. */
export function givenUpAfter(
  { vote, attempt }: Taken,
  outcome: Pick<Outcome, 'class' | 'code'>,
): 'failed' | 'unconfirmed' | null {
  if (outcome.class === 'vote-only') return 'failed';
  const most = maxSendingsOf(attempt);
  // The website may have taken the vote: if the owner allows one sending, this was it.
  if (outcome.code === 'http-unavailable') return most === 1 ? 'unconfirmed' : null;
  const sendings = vote.delivery.ambiguousEnds + 1;
  return outcome.class === 'ambiguous' && sendings >= most ? 'unconfirmed' : null;
}

/** The owner may have lowered the limit of sendings since the attempt began. */
export function asAllowedNow({ vote, attempt }: Taken, listener: Pick<Listener, 'maxSendings'>): Taken {
  const maxSendings = Math.min(maxSendingsOf(attempt), maxSendingsOf(listener));
  return { vote, attempt: { ...attempt, maxSendings } };
}

/**
 * After a transient or ambiguous outcome, the vote moves to the next step of `schedule` (milliseconds). If the attempt
 * tested an unreachable listener, the step stays and the vote is due now, after all that were due before.
 */
export function afterAttempt(taken: Taken, outcome: Outcome, now: Date, schedule: readonly number[]): Change {
  const { attempt } = taken;
  const { step, ends, attempts } = taken.vote.delivery;
  const queuedAt = taken.vote.delivery.queuedAt ?? now;
  const givenUp = givenUpAfter(taken, outcome);
  switch (outcome.class) {
    case 'delivered':
      return { set: { 'delivery.state': 'delivered', 'delivery.deliveredAt': now }, unset: DELIVERY_ENDED };
    case 'vote-only':
      return { set: { 'delivery.state': givenUp }, unset: DELIVERY_ENDED };
    case 'ambiguous':
    case 'transient': {
      const inc = outcome.class === 'ambiguous' ? { 'delivery.ambiguousEnds': 1 } : {};
      if (givenUp) return { set: { 'delivery.state': givenUp }, unset: DELIVERY_ENDED, inc };
      // Of our answer to the listener's challenge: the first refusal is retried at once, a second one by the schedule.
      if (outcome.code === 'challenge-refused' && attempts.at(-2)?.code !== 'challenge-refused')
        return waitAgain(now, 'challenge-retry');
      return { ...waitAgain(), inc: { ...inc, ...usedStep() } };
    }
    case 'configuration':
      // The listener is paused, unless the owner changed the settings meanwhile. Either way the vote is the first.
      return waitAgain(queuedAt);
    case 'none':
      return {
        // If Tallyport itself fails, the vote's step stays. The delay still grows: otherwise a lasting error would be
        // retried every few seconds for three days.
        ...(outcome.code === 'our-fault'
          ? waitAgain(after(now, delayAt(schedule, 1 + (ends.none ?? 0))))
          : waitAgain(queuedAt, 'given-back')),
        inc: NOT_COUNTED,
      };
  }

  function usedStep() {
    return attempt.test ? {} : { 'delivery.step': 1 };
  }

  /** Now, if the attempt was a test; later if the listener requested that. */
  function nextRetryAt(): Date {
    const delay = attempt.test ? 0 : delayAt(schedule, step + 1);
    return after(now, Math.max(delay, outcome.retryAfterMs ?? 0));
  }

  function waitAgain(nextAt = nextRetryAt(), dueBy: Cause = 'schedule') {
    return {
      set: {
        'delivery.state': 'waiting',
        'delivery.nextAt': nextAt,
        'delivery.dueBy': dueBy,
      },
      unset: { 'delivery.leaseUntil': '', 'delivery.requestId': '' },
    } as const;
  }
}
