import {
  BREAKER_THRESHOLD,
  delayAt,
  LAST_ANSWER_STEP,
  VOTE_FAULT_THRESHOLD,
} from '../../listeners/delivery-limits.ts';
import { type Breaker, type Pause, REACHABLE, type Release } from '../../listeners/listener.ts';
import { isOurs, isSilent, type Outcome } from '../../listeners/outcomes.ts';
import { after } from '../../platform/clock.ts';

/** The health of a listener: the fields that outcomes of attempts change. */
export type ListenerHealth = {
  breaker: Breaker;
  pause: Pause | null;
  voteFaults: number;
  released: Release | null;
  /** When it first took a vote with its current settings. */
  acknowledgedAt: Date | null;
  /** How long its answer is waited for: a step. */
  answerStep: number;
};

/** The outcome of an attempt, and what else changes its listener's health. */
export type JudgedOutcome = Outcome & {
  /** Whether it tested an unreachable listener; attempts that were running when it became unreachable did not. */
  test: boolean;
  /** How long its answer was waited for: a step. */
  answerStep: number;
};

/**
 * The health of a listener after an attempt (docs/delivery.md). Pure: the same health and outcome always give the
 * same result, except for the jitter.
 *
 * @param schedule - times between tests of an unreachable listener, in milliseconds
 * @returns the same object when nothing changes
 */
export function healthAfter(
  before: ListenerHealth,
  outcome: JudgedOutcome,
  now: Date,
  schedule: readonly number[],
): ListenerHealth {
  const said = saidIn(outcome);
  if (isOurs(outcome)) return afterOurs(before, outcome, now, schedule);
  switch (outcome.class) {
    case 'delivered': {
      const { failures, nextTestAt, openSince } = before.breaker;
      const acknowledgedAt = before.acknowledgedAt ?? now;
      const healthy = failures === 0 && !nextTestAt && before.voteFaults === 0;
      if (healthy && before.acknowledgedAt) return before;
      const released: Release | null = openSince ? { by: 'listener-back', at: now } : before.released;
      return { ...before, breaker: REACHABLE, voteFaults: 0, released, acknowledgedAt };
    }
    case 'transient':
      return { ...before, breaker: breakerAfterFailure(before.breaker, outcome, now, schedule) };
    case 'ambiguous':
      return afterAmbiguousOutcome(before, outcome, now, schedule);
    case 'configuration':
      return { ...before, pause: before.pause ?? { at: now, by: 'tallyport', code: outcome.code, ...said } };
    case 'vote-only': {
      const voteFaults = before.voteFaults + 1;
      if (voteFaults < VOTE_FAULT_THRESHOLD || before.pause) return { ...before, voteFaults };
      return {
        ...before,
        voteFaults,
        pause: { at: now, by: 'tallyport', code: 'repeated-vote-faults', ...said },
      };
    }
    case 'none':
      return before;
  }
}

/**
 * Pauses a listener that has never taken a vote with its current settings and ended an attempt without an answer: its
 * token or key is probably wrong, and the other votes would become unconfirmed too.
 */
function afterAmbiguousOutcome(
  before: ListenerHealth,
  outcome: JudgedOutcome,
  now: Date,
  schedule: readonly number[],
): ListenerHealth {
  const breaker = breakerAfterFailure(before.breaker, outcome, now, schedule);
  const longer = outcome.code === 'no-answer' ? Math.min(outcome.answerStep + 1, LAST_ANSWER_STEP) : 0;
  const answerStep = Math.max(before.answerStep, longer);
  const isPaused = !before.acknowledgedAt && !before.pause && isSilent(outcome);
  const pause: Pause | null = isPaused
    ? { at: now, by: 'tallyport', code: 'never-acknowledged' }
    : before.pause;
  return { ...before, breaker, answerStep, pause };
}

/** The listener's message, and what Tallyport found. */
function saidIn({ words, detail }: Outcome): { words?: string; detail?: string } {
  return { ...(words ? { words } : {}), ...(detail ? { detail } : {}) };
}

/** The outcome says nothing about the listener, but the next test must not follow at once. */
function afterOurs(
  before: ListenerHealth,
  { test }: { test: boolean },
  now: Date,
  schedule: readonly number[],
): ListenerHealth {
  if (!test) return before;
  const nextTestAt = after(now, delayAt(schedule, before.breaker.tests));
  const { hastenedBy: _, ...breaker } = before.breaker;
  return { ...before, breaker: { ...breaker, nextTestAt } };
}

function breakerAfterFailure(
  before: Breaker,
  outcome: JudgedOutcome,
  now: Date,
  schedule: readonly number[],
): Breaker {
  const failures = before.failures + 1;
  const reason = { code: outcome.code, ...saidIn(outcome) };
  /** The next time of the schedule; later if the listener requested that. */
  const nextTest = (tests: number) =>
    after(now, Math.max(delayAt(schedule, tests), outcome.retryAfterMs ?? 0));
  if (before.openSince && !outcome.test) return { ...before, failures };
  if (before.openSince) {
    const tests = before.tests + 1;
    return {
      failures,
      openSince: before.openSince,
      tests,
      nextTestAt: nextTest(tests),
      ...reason,
    };
  }
  if (failures < BREAKER_THRESHOLD) return { failures, tests: 0, ...reason };
  return { failures, openSince: now, tests: 0, nextTestAt: nextTest(0), ...reason };
}
