import { after } from '../clock.ts';
import { type Breaker, type Pause, REACHABLE, type Release } from './listener.ts';
import { isOurs, type Outcome } from './outcomes.ts';
import { BREAKER_THRESHOLD, delayAt, VOTE_FAULT_THRESHOLD } from './schedule.ts';

/** What the ends of attempts change on a listener. */
export type Standing = {
  breaker: Breaker;
  pause: Pause | null;
  voteFaults: number;
  released: Release | null;
};

/**
 * How a listener stands after an attempt ended (delivery rules, breaker). Pure: the same standing and outcome
 * always give the same result but for the jitter.
 *
 * @param end - `test`: the attempt tested an unreachable listener; others were under way when it became so
 * @param schedule - times between tests of an unreachable listener, in milliseconds
 * @returns the same object when nothing changes
 */
export function standingAfter(
  before: Standing,
  end: Outcome & { test: boolean },
  now: Date,
  schedule: readonly number[],
): Standing {
  const said = end.words ? { words: end.words } : {};
  if (isOurs(end)) return afterOurs(before, end, now, schedule);
  switch (end.class) {
    case 'delivered': {
      const { failures, nextTestAt, openSince } = before.breaker;
      const healthy = failures === 0 && !nextTestAt && before.voteFaults === 0;
      if (healthy) return before;
      const released: Release | null = openSince ? { by: 'listener-back', at: now } : before.released;
      return { ...before, breaker: REACHABLE, voteFaults: 0, released };
    }
    case 'transient':
    case 'ambiguous':
      return { ...before, breaker: breakerAfterFailure(before.breaker, end, now, schedule) };
    case 'configuration':
      return { ...before, pause: before.pause ?? { at: now, by: 'tallyport', code: end.code, ...said } };
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

/** It says nothing about the listener, but the next test must not follow without a pause. */
function afterOurs(
  before: Standing,
  { test }: { test: boolean },
  now: Date,
  schedule: readonly number[],
): Standing {
  if (!test) return before;
  const nextTestAt = after(now, delayAt(schedule, before.breaker.tests));
  const { hastenedBy: _, ...breaker } = before.breaker;
  return { ...before, breaker: { ...breaker, nextTestAt } };
}

function breakerAfterFailure(
  before: Breaker,
  end: Outcome & { test: boolean },
  now: Date,
  schedule: readonly number[],
): Breaker {
  const failures = before.failures + 1;
  const reason = { code: end.code, ...(end.words ? { words: end.words } : {}) };
  /** By the schedule; later where the listener asked for that. */
  const nextTest = (tests: number) => after(now, Math.max(delayAt(schedule, tests), end.retryAfterMs ?? 0));
  if (before.openSince && !end.test) return { ...before, failures };
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
