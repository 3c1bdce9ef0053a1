import type { Cause } from '../../listeners/causes.ts';
import type { Listener } from '../../listeners/listener.ts';
import type { Outcome } from '../../listeners/outcomes.ts';
import { delayAt, mostSendings } from '../../listeners/schedule.ts';
import { after } from '../../platform/clock.ts';
import type { Attempt, Vote } from '../../votes/vote.ts';

/** A vote whose attempt is recorded and may now be made. */
export type Claimed = { vote: Vote; attempt: Attempt };

/** The step of the answer's deadline: ambiguous ends of this vote, or what its listener was known to need. */
export function answerStepOf({ vote, attempt }: Claimed): number {
  return Math.max(vote.delivery.ambiguousEnds, attempt.answerStep ?? 0);
}

/** What a vote that is out of the line has no more. */
export const DELIVERY_ENDED = {
  'delivery.queuedAt': '',
  'delivery.expiresAt': '',
  'delivery.leaseUntil': '',
  'delivery.nextAt': '',
  'delivery.dueBy': '',
} as const;

/** Whether the attempt before the newest one was refused its challenge too: it is retried at once only once. */
function challengeRefusedBefore(vote: Vote): boolean {
  return vote.delivery.attempts.at(-2)?.code === 'challenge-refused';
}

/** An attempt that was given back is none of those that are counted. */
export const NOT_COUNTED = { 'delivery.attemptCount': -1 } as const;

/** What an outcome makes of the vote. */
export type Change = {
  set: Record<string, unknown>;
  unset: Record<string, ''>;
  inc?: Record<string, number>;
};

/** How a vote ends that is not sent again by itself after `outcome`; null when it is delivered or goes on waiting. */
export function givenUpAfter(
  { vote, attempt }: Claimed,
  outcome: Pick<Outcome, 'class'>,
): 'failed' | 'unconfirmed' | null {
  if (outcome.class === 'vote-only') return 'failed';
  const sendings = vote.delivery.ambiguousEnds + 1;
  return outcome.class === 'ambiguous' && sendings >= mostSendings(attempt) ? 'unconfirmed' : null;
}

/** An attempt that has ended: its owner may have lowered the number of sendings since it began. */
export function asAllowedNow({ vote, attempt }: Claimed, listener: Pick<Listener, 'maxSendings'>): Claimed {
  const maxSendings = Math.min(mostSendings(attempt), mostSendings(listener));
  return { vote, attempt: { ...attempt, maxSendings } };
}

/**
 * What an outcome makes of the vote, as an update. The schedule's step is used up by every counted failure but a
 * test's; a vote that failed a test goes behind the others.
 */
export function afterAttempt(
  claimed: Claimed,
  outcome: Outcome,
  now: Date,
  schedule: readonly number[],
): Change {
  const { vote, attempt } = claimed;
  const { step, ends } = vote.delivery;
  const givenUp = givenUpAfter(claimed, outcome);
  switch (outcome.class) {
    case 'delivered':
      return { set: { 'delivery.state': 'delivered', 'delivery.deliveredAt': now }, unset: DELIVERY_ENDED };
    case 'vote-only':
      return { set: { 'delivery.state': givenUp }, unset: DELIVERY_ENDED };
    case 'ambiguous':
      if (givenUp) {
        return {
          set: { 'delivery.state': givenUp },
          unset: DELIVERY_ENDED,
          inc: { 'delivery.ambiguousEnds': 1 },
        };
      }
      return { ...waitAgain(), inc: { 'delivery.ambiguousEnds': 1, ...usedStep() } };
    case 'transient':
      if (outcome.code === 'challenge-refused' && !challengeRefusedBefore(vote))
        return waitAgain(now, 'challenge-retry');
      return { ...waitAgain(), inc: usedStep() };
    case 'configuration':
      // The pause that follows from it holds the vote, unless the settings were changed meanwhile.
      return waitAgain(now);
    case 'none':
      return {
        // Uses up no step, but a fault of ours that stays must not be tried every few seconds for three days.
        ...(outcome.code === 'our-fault'
          ? waitAgain(after(now, delayAt(schedule, 1 + (ends.none ?? 0))))
          : waitAgain(now, 'given-back')),
        inc: NOT_COUNTED,
      };
  }

  function usedStep() {
    return attempt.test ? {} : { 'delivery.step': 1 };
  }

  /** By its schedule; later where the listener asked for that. */
  function nextTurn(): Date {
    const delay = attempt.test ? 0 : delayAt(schedule, step + 1);
    return after(now, Math.max(delay, outcome.retryAfterMs ?? 0));
  }

  function waitAgain(nextAt = nextTurn(), dueBy: Cause = 'schedule') {
    return {
      set: {
        'delivery.state': 'waiting',
        'delivery.nextAt': nextAt,
        'delivery.dueBy': dueBy,
        ...(attempt.test && outcome.code !== 'stopped-before-written' ? { 'delivery.queuedAt': now } : {}),
      },
      unset: { 'delivery.leaseUntil': '' },
    } as const;
  }
}
