import {
  BREAKER_THRESHOLD,
  delayAt,
  LAST_ANSWER_STEP,
  VOTE_FAULT_THRESHOLD,
} from '../../listeners/delivery-limits.ts';
import {
  type Breaker,
  type Pause,
  type Protocol,
  REACHABLE,
  type Release,
} from '../../listeners/listener.ts';
import { isSilent, OUTCOMES, type Outcome, type OutcomeCode, saidIn } from '../../listeners/outcomes.ts';
import { after } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';

/** The health of a listener: the fields that outcomes of attempts change. */
export type ListenerHealth = {
  breaker: Breaker;
  pause: Pause | null;
  voteFaults: number;
  released: Release | null;
  /** When the listener first took a vote with its current settings. */
  acknowledgedAt: Date | null;
  /** How long to wait for the listener's answer, as a step of `answerTimeoutMs`. */
  answerStep: number;
};

/** The outcome of an attempt, with what else is needed to compute its listener's new health. */
type JudgedOutcome = Outcome & {
  /** Whether the attempt tested an unreachable listener. False if it began before the breaker opened. */
  test: boolean;
  /** How long this attempt waited for the answer, as a step of `answerTimeoutMs`. */
  answerStep: number;
  /** The lowest step that would have been long enough for this answer; at most `answerStep`. */
  neededStep: number;
  protocol: Protocol;
  /** Whether the vote is given up. After an ambiguous outcome: whether it was sent as often as the owner allows. */
  isLastSending: boolean;
};

/**
 * The health of a listener after an attempt (docs/delivery.md); `before` itself if nothing changes. `schedule`: the
 * times between tests of an unreachable listener, in milliseconds.
 */
export function healthAfter(
  before: ListenerHealth,
  outcome: JudgedOutcome,
  now: Date,
  schedule: readonly number[],
): ListenerHealth {
  const said = saidIn(outcome);
  if (OUTCOMES[outcome.code].isOurs) {
    if (!outcome.test) return before;
    // The outcome says nothing about the listener. If it ended a test, the next test must still not follow at once.
    const { hastenedBy: _, ...breaker } = before.breaker;
    const nextTestAt = after(now, delayAt(schedule, breaker.tests));
    return { ...before, breaker: { ...breaker, nextTestAt } };
  }
  switch (outcome.class) {
    case 'delivered': {
      const { failures, nextTestAt, openSince } = before.breaker;
      const acknowledgedAt = before.acknowledgedAt ?? now;
      // If the listener answered late, the next wait lasts as long: otherwise the next vote would be sent twice.
      const answerStep = Math.max(before.answerStep, outcome.neededStep);
      const healthy = failures === 0 && !nextTestAt && before.voteFaults === 0;
      if (healthy && before.acknowledgedAt && answerStep === before.answerStep) return before;
      const released: Release | null = openSince ? { by: 'listener-back', at: now } : before.released;
      return { ...before, breaker: REACHABLE, voteFaults: 0, released, acknowledgedAt, answerStep };
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

/** If no answer came in time, the next wait is longer. If `whyPaused` returns a reason, the listener is paused. */
function afterAmbiguousOutcome(
  before: ListenerHealth,
  outcome: JudgedOutcome,
  now: Date,
  schedule: readonly number[],
): ListenerHealth {
  const breaker = breakerAfterFailure(before.breaker, outcome, now, schedule);
  const longer = outcome.code === 'no-answer' ? Math.min(outcome.answerStep + 1, LAST_ANSWER_STEP) : 0;
  const answerStep = Math.max(before.answerStep, longer);
  const code = whyPaused(before, outcome);
  const pause = before.pause ?? (code && { at: now, by: 'tallyport', code });
  return { ...before, breaker, answerStep, pause };
}

/**
 * The outcome code for which a listener that sent no answer is paused, so that its votes wait and are not sent in vain
 * (docs/adr/0123-votes-at-risk.md); null if it is not paused.
 *
 * - If the listener has never taken a vote with its current settings, its token or key is probably wrong. If no answer
 *   came in time, a listener with a token, or a website, may also be slow: it is paused only after the longest wait for
 *   an answer (`LAST_ANSWER_STEP`), or after the last sending that the owner allows.
 * - A Votifier v1 listener that has confirmed votes is paused if it closes the connection without an answer twice in a
 *   row. One vote alone may cause a single close.
 */
function whyPaused(before: ListenerHealth, outcome: JudgedOutcome): OutcomeCode | null {
  const { code, protocol, answerStep, isLastSending } = outcome;
  if (!isSilent(outcome)) return null;
  if (!before.acknowledgedAt) {
    const mayBeSlow = code === 'no-answer' && protocol !== 'votifier-v1';
    const isWaitedForLonger = mayBeSlow && answerStep < LAST_ANSWER_STEP && !isLastSending;
    return isWaitedForLonger ? null : 'never-acknowledged';
  }
  const isNoLongerConfirmed = protocol === 'votifier-v1' && code === 'closed-without-answer';
  return isNoLongerConfirmed && before.breaker.code === code ? code : null;
}

function breakerAfterFailure(
  before: Breaker,
  outcome: JudgedOutcome,
  now: Date,
  schedule: readonly number[],
): Breaker {
  const failures = before.failures + 1;
  const reason = { code: outcome.code, ...saidIn(outcome) };
  const { openSince } = before;
  if (openSince && !outcome.test) return { ...before, failures };
  if (!openSince && failures < BREAKER_THRESHOLD) return { failures, tests: 0, ...reason };
  const tests = openSince ? before.tests + 1 : 0;
  // The next time of the schedule, or later if the listener requested that.
  const nextTestAt = after(now, Math.max(delayAt(schedule, tests), outcome.retryAfterMs ?? 0));
  return { failures, openSince: openSince ?? now, tests, nextTestAt, ...reason };
}

/** Logs for operators if an outcome opened or closed the breaker of its listener, or paused the listener. */
export function logHealth(log: Logger, before: ListenerHealth, health: ListenerHealth, voteId: string): void {
  const { breaker, pause } = health;
  const wasOpen = before.breaker.openSince;
  if (!wasOpen && breaker.openSince) {
    log.warn({ event: 'breaker.opened', voteId, code: breaker.code, nextTestAt: breaker.nextTestAt });
  }
  if (wasOpen && !breaker.openSince) log.info({ event: 'breaker.closed', voteId, openSince: wasOpen });
  if (pause && !before.pause) log.warn({ event: 'listener.paused', voteId, by: pause.by, code: pause.code });
}
