import { type Breaker, type Pause, REACHABLE, type Release } from '../../listeners/listener.ts';
import { isOurs, isSilent, type Outcome } from '../../listeners/outcomes.ts';
import {
  BREAKER_THRESHOLD,
  delayAt,
  LAST_ANSWER_STEP,
  VOTE_FAULT_THRESHOLD,
} from '../../listeners/schedule.ts';
import { after } from '../../platform/clock.ts';

/** What the ends of attempts change on a listener. */
export type ListenerHealth = {
  breaker: Breaker;
  pause: Pause | null;
  voteFaults: number;
  released: Release | null;
  /** When it first took a vote with its present settings. */
  acknowledgedAt: Date | null;
  /** How long its answers are waited for. */
  answerStep: number;
};

/** How an attempt ended, and what the judgement of its listener depends on. */
export type JudgedOutcome = Outcome & {
  /** It tested an unreachable listener; others were under way when it became so. */
  test: boolean;
  /** How long its answer was waited for. */
  answerStep: number;
};

/**
 * How a listener stands after an attempt ended (delivery rules, breaker). Pure: the same health and outcome
 * always give the same result but for the jitter.
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
 * A listener that has never taken a vote with its present settings and ends an attempt without a word mostly has
 * another token or key: its votes are held, before it uses them up.
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
  const held = !before.acknowledgedAt && !before.pause && isSilent(outcome);
  const pause: Pause | null = held ? { at: now, by: 'tallyport', code: 'never-acknowledged' } : before.pause;
  return { ...before, breaker, answerStep, pause };
}

/** What the listener said, and what Tallyport found. */
function saidIn({ words, detail }: Outcome): { words?: string; detail?: string } {
  return { ...(words ? { words } : {}), ...(detail ? { detail } : {}) };
}

/** It says nothing about the listener, but the next test must not follow without a pause. */
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
  /** By the schedule; later where the listener asked for that. */
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
