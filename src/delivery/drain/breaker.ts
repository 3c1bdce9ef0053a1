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

/** What outcomes of attempts change of a listener. */
export type ListenerHealth = {
  breaker: Breaker;
  pause: Pause | null;
  voteFaults: number;
  released: Release | null;
  acknowledgedAt: Date | null;
  /** The step of `answerTimeoutMs` for the next answer. */
  answerStep: number;
};

type JudgedOutcome = Outcome & {
  /** False if the attempt began before the breaker opened. */
  test: boolean;
  /** The step of `answerTimeoutMs` of this attempt. */
  answerStep: number;
  /** The lowest one that would have been long enough; at most `answerStep`. */
  neededStep: number;
  protocol: Protocol;
  /** The vote is given up. After an ambiguous outcome: it was sent as often as the owner allows. */
  isLastSending: boolean;
};

/** `before` itself if nothing changes (docs/delivery.md). `schedule`: the times between tests, in milliseconds. */
export function healthAfter(
  before: ListenerHealth,
  outcome: JudgedOutcome,
  now: Date,
  schedule: readonly number[],
): ListenerHealth {
  const said = saidIn(outcome);
  if (OUTCOMES[outcome.code].isOurs) {
    if (!outcome.test) return before;
    // This says nothing about the listener. After a test, the next one must still not follow at once.
    const { hastenedBy: _, ...breaker } = before.breaker;
    const nextTestAt = after(now, delayAt(schedule, breaker.tests));
    return { ...before, breaker: { ...breaker, nextTestAt } };
  }
  switch (outcome.class) {
    case 'delivered': {
      const { failures, nextTestAt, openSince } = before.breaker;
      const acknowledgedAt = before.acknowledgedAt ?? now;
      // If the listener answered late, the next vote would otherwise be sent twice.
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

/** If no answer came in time, the next wait is longer. */
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
 * A listener that sent no answer is paused, so that its votes are not sent in vain (docs/adr/0123-votes-at-risk.md).
 * Never having taken a vote, its token or key is probably wrong; with a token, or as a website, it may also be slow:
 * then only after the longest wait or the last sending. A Votifier v1 listener that has confirmed votes is paused if it
 * closes without an answer twice in a row: one vote alone may cause a single close.
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
  // Later if the listener requested that.
  const nextTestAt = after(now, Math.max(delayAt(schedule, tests), outcome.retryAfterMs ?? 0));
  return { failures, openSince: openSince ?? now, tests, nextTestAt, ...reason };
}

/** Logs a listener that went down or came back, for operators. */
export function logHealth(log: Logger, before: ListenerHealth, health: ListenerHealth, voteId: string): void {
  const { breaker, pause } = health;
  const wasOpen = before.breaker.openSince;
  if (!wasOpen && breaker.openSince) {
    log.warn({ event: 'breaker.opened', voteId, code: breaker.code, nextTestAt: breaker.nextTestAt });
  }
  if (wasOpen && !breaker.openSince) log.info({ event: 'breaker.closed', voteId, openSince: wasOpen });
  if (pause && !before.pause) log.warn({ event: 'listener.paused', voteId, by: pause.by, code: pause.code });
}
