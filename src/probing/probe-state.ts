import type { StatusSample } from '../history/status-sample.ts';
import { after, HOUR, SECOND } from '../platform/clock.ts';
import { PROBE_INTERVAL_SECONDS } from '../servers/listed-servers.ts';
import type { ProbeState } from '../servers/server.ts';

/** In a row, if the newest is at least `QUICK_RETRY_MS` after the first. */
const FAILURES_TO_OFFLINE = 3;
const QUICK_RETRY_MS = 30 * SECOND;

/** After failures for this long, each failed scheduled probe doubles the interval. */
const LONG_OFFLINE_MS = HOUR;
const LONGEST_INTERVAL_SECONDS = 3_600;

/** In both directions: servers that were listed together are not probed together. */
const JITTER = 0.1;

/** Later the status is unknown, and failures are counted from 0 again. */
const INTERVALS_VALID = 3;

/** `canary-failed`: no answer, but the state is unknown. `not-asked`: Tallyport refuses the game or address. */
export type Check =
  | { end: 'answered'; byHand: boolean; latencyMs: number }
  | { end: 'failed' | 'canary-failed' | 'not-asked'; byHand: boolean };

/** Time without a sample is unknown. */
export type SampleOfCheck = Pick<StatusSample, 'status' | 'reason' | 'seconds'>;

/** What changes when a probe is taken. */
type TakePlan = Pick<ProbeState, 'nextAt' | 'scheduledAt' | 'claimSeconds' | 'urgent'>;

/**
 * The sample of a scheduled probe covers the time from its take until the next scheduled one, as planned at the take.
 * So samples do not overlap, and time in which the scheduler or the workers were down is in none. A probe between two
 * scheduled ones (a quick retry, or the first after an edit) covers no time and does not move the next one. After a new
 * or late one the next is at a random time: otherwise thousands could be due at the same moment.
 */
export function planOfTake(state: ProbeState, now: Date, random = Math.random()): TakePlan {
  if (now < state.scheduledAt)
    return { nextAt: state.scheduledAt, scheduledAt: state.scheduledAt, claimSeconds: 0, urgent: false };
  const interval = state.intervalSeconds;
  const late = now.getTime() - state.scheduledAt.getTime() > interval * SECOND;
  const claimSeconds =
    late || !state.checkedAt
      ? Math.round(interval * (JITTER + (1 - JITTER) * random))
      : varied(interval, random);
  const nextAt = after(now, claimSeconds * SECOND);
  return { nextAt, scheduledAt: nextAt, claimSeconds, urgent: false };
}

function varied(seconds: number, random: number): number {
  return Math.round(seconds * (1 - JITTER + 2 * JITTER * random));
}

/**
 * `sample` is null if there is none. Offline: three failures in a row, the last at least 30 s after the first, or three
 * failed checks by hand since the last answer.
 */
export function stateAfter(
  before: ProbeState,
  check: Check,
  now: Date,
  random = Math.random(),
): { state: ProbeState; sample: SampleOfCheck | null } {
  const seconds = check.byHand ? 0 : before.claimSeconds;
  const checked = { ...(isStale(before, now) ? reset(before, now) : before), checkedAt: now };
  switch (check.end) {
    case 'answered':
      return afterAnswer(checked, check.latencyMs, seconds, now, random);
    case 'failed':
      return afterFailure(checked, check.byHand, seconds, now);
    case 'canary-failed':
      return {
        state: { ...checked, status: 'unknown' },
        sample: { status: 'unknown', reason: 'canary', seconds },
      };
    case 'not-asked':
      return { state: { ...checked, status: 'unknown' }, sample: null };
  }
}

function isStale({ checkedAt, intervalSeconds }: ProbeState, now: Date): boolean {
  return !!checkedAt && now.getTime() - checkedAt.getTime() > INTERVALS_VALID * intervalSeconds * SECOND;
}

/** Earlier failures do not count with later ones, except in `failuresByHand`. */
function reset(before: ProbeState, now: Date): ProbeState {
  return {
    ...before,
    ...sooner(before, after(now, PROBE_INTERVAL_SECONDS * SECOND)),
    status: 'unknown',
    failures: 0,
    failingSince: null,
    intervalSeconds: PROBE_INTERVAL_SECONDS,
  };
}

/** Not later than `at`: the times were planned with a longer interval. */
function sooner({ nextAt, scheduledAt }: ProbeState, at: Date): Pick<ProbeState, 'nextAt' | 'scheduledAt'> {
  return { nextAt: at < nextAt ? at : nextAt, scheduledAt: at < scheduledAt ? at : scheduledAt };
}

function afterAnswer(
  before: ProbeState,
  latencyMs: number,
  seconds: number,
  now: Date,
  random: number,
): { state: ProbeState; sample: SampleOfCheck } {
  const interval = PROBE_INTERVAL_SECONDS;
  const plan =
    before.intervalSeconds > interval ? sooner(before, after(now, varied(interval, random) * SECOND)) : null;
  const scheduledAt = plan?.scheduledAt ?? before.scheduledAt;
  // The next scheduled probe is now earlier: the sample covers at most the time until then.
  const shorter = Math.max(0, Math.round((scheduledAt.getTime() - now.getTime()) / SECOND));
  const state: ProbeState = {
    ...before,
    ...plan,
    status: 'online',
    latencyMs,
    succeededAt: now,
    failures: 0,
    failuresByHand: 0,
    failingSince: null,
    offlineSince: null,
    intervalSeconds: interval,
    urgent: false,
  };
  // A planned quick retry is not needed.
  if (state.nextAt < state.scheduledAt) state.nextAt = state.scheduledAt;
  return { state, sample: { status: 'online', seconds: plan ? Math.min(seconds, shorter) : seconds } };
}

function afterFailure(
  before: ProbeState,
  byHand: boolean,
  seconds: number,
  now: Date,
): { state: ProbeState; sample: SampleOfCheck } {
  const failures = before.failures + 1;
  const failuresByHand = before.failuresByHand + (byHand ? 1 : 0);
  const failingSince = before.failingSince ?? now;
  const failingMs = now.getTime() - failingSince.getTime();
  const confirmed = failures >= FAILURES_TO_OFFLINE && failingMs >= QUICK_RETRY_MS;
  const offline = confirmed || failuresByHand >= FAILURES_TO_OFFLINE;
  const state: ProbeState = { ...before, failures, failuresByHand, failingSince };
  if (offline) {
    state.status = 'offline';
    state.offlineSince = before.offlineSince ?? now;
  }
  if (offline && seconds > 0 && failingMs >= LONG_OFFLINE_MS) {
    state.intervalSeconds = Math.min(LONGEST_INTERVAL_SECONDS, 2 * before.intervalSeconds);
  }
  if (failures === 1) {
    const retryAt = after(now, QUICK_RETRY_MS);
    if (retryAt < state.nextAt) {
      state.nextAt = retryAt;
      state.urgent = true;
    }
  }
  return {
    state,
    sample: offline ? { status: 'offline', seconds } : { status: 'unknown', reason: 'unconfirmed', seconds },
  };
}
