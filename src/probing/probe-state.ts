import type { StatusSample } from '../history/status-sample.ts';
import { after, HOUR, SECOND } from '../platform/clock.ts';
import type { CheckedState } from '../servers/checked-state.ts';
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
  // If the last check is long ago: the times may have been planned with a longer interval.
  const soon = after(now, PROBE_INTERVAL_SECONDS * SECOND);
  const known = isStale(before, now) ? { ...before, ...sooner(before, soon), ...FORGOTTEN } : before;
  const checked = { ...known, ...checkedAfter(known, check, now, seconds) };
  switch (check.end) {
    case 'answered':
      return afterAnswer(known, checked, seconds, now, random);
    case 'failed':
      return afterFailure(checked, seconds, now);
    case 'canary-failed':
      return { state: checked, sample: { status: 'unknown', reason: 'canary', seconds } };
    case 'not-asked':
      return { state: checked, sample: null };
  }
}

/**
 * The same counting for one of two addresses. `intervalSeconds` is that of the whole server, which may be asked less
 * often.
 */
export function addressStateAfter<S extends CheckedState>(
  before: S,
  check: Check,
  now: Date,
  { seconds, intervalSeconds }: { seconds: number; intervalSeconds: number },
): S {
  const longest = Math.max(before.intervalSeconds, intervalSeconds);
  const isOld = isStale({ ...before, intervalSeconds: longest }, now);
  const known = isOld ? { ...before, ...FORGOTTEN } : before;
  return { ...known, ...checkedAfter(known, check, now, check.byHand ? 0 : seconds) };
}

/** False for an address that has been offline for long: it is asked as seldom as a server in that state. */
export function isAddressDue({ intervalSeconds, checkedAt }: CheckedState, now: Date): boolean {
  if (intervalSeconds <= PROBE_INTERVAL_SECONDS || !checkedAt) return true;
  // As early as the jitter of a server allows.
  return now >= after(checkedAt, intervalSeconds * (1 - JITTER) * SECOND);
}

function isStale({ checkedAt, intervalSeconds }: CheckedState, now: Date): boolean {
  return !!checkedAt && now.getTime() - checkedAt.getTime() > INTERVALS_VALID * intervalSeconds * SECOND;
}

/** After a time without checks. Earlier failures do not count with later ones, except in `failuresByHand`. */
const FORGOTTEN = {
  status: 'unknown',
  failures: 0,
  failingSince: null,
  intervalSeconds: PROBE_INTERVAL_SECONDS,
} as const satisfies Partial<CheckedState>;

/** Not later than `at`. */
function sooner({ nextAt, scheduledAt }: ProbeState, at: Date): Pick<ProbeState, 'nextAt' | 'scheduledAt'> {
  return { nextAt: at < nextAt ? at : nextAt, scheduledAt: at < scheduledAt ? at : scheduledAt };
}

/** `seconds`: 0 for a check that is not scheduled. */
function checkedAfter(before: CheckedState, check: Check, now: Date, seconds: number): Partial<CheckedState> {
  switch (check.end) {
    case 'answered':
      return {
        checkedAt: now,
        status: 'online',
        latencyMs: check.latencyMs,
        succeededAt: now,
        failures: 0,
        failuresByHand: 0,
        failingSince: null,
        offlineSince: null,
        intervalSeconds: PROBE_INTERVAL_SECONDS,
      };
    case 'failed':
      return { checkedAt: now, ...failedOnceMore(before, check.byHand, now, seconds) };
    default:
      return { checkedAt: now, status: 'unknown' };
  }
}

function failedOnceMore(
  before: CheckedState,
  byHand: boolean,
  now: Date,
  seconds: number,
): Partial<CheckedState> {
  const failures = before.failures + 1;
  const failuresByHand = before.failuresByHand + (byHand ? 1 : 0);
  const failingSince = before.failingSince ?? now;
  const failingMs = now.getTime() - failingSince.getTime();
  if (!isOffline(failures, failuresByHand, failingMs)) return { failures, failuresByHand, failingSince };
  const isLong = seconds > 0 && failingMs >= LONG_OFFLINE_MS;
  return {
    failures,
    failuresByHand,
    failingSince,
    status: 'offline',
    offlineSince: before.offlineSince ?? now,
    ...(isLong ? { intervalSeconds: Math.min(LONGEST_INTERVAL_SECONDS, 2 * before.intervalSeconds) } : {}),
  };
}

function isOffline(failures: number, failuresByHand: number, failingMs: number): boolean {
  const confirmed = failures >= FAILURES_TO_OFFLINE && failingMs >= QUICK_RETRY_MS;
  return confirmed || failuresByHand >= FAILURES_TO_OFFLINE;
}

function afterAnswer(
  before: ProbeState,
  checked: ProbeState,
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
  const state: ProbeState = { ...checked, ...plan, urgent: false };
  // A planned quick retry is not needed.
  if (state.nextAt < state.scheduledAt) state.nextAt = state.scheduledAt;
  return { state, sample: { status: 'online', seconds: plan ? Math.min(seconds, shorter) : seconds } };
}

function afterFailure(
  checked: ProbeState,
  seconds: number,
  now: Date,
): { state: ProbeState; sample: SampleOfCheck } {
  const state = { ...checked };
  if (state.failures === 1) {
    const retryAt = after(now, QUICK_RETRY_MS);
    if (retryAt < state.nextAt) {
      state.nextAt = retryAt;
      state.urgent = true;
    }
  }
  const { failures, failuresByHand, failingSince } = state;
  const failingMs = failingSince ? now.getTime() - failingSince.getTime() : 0;
  return {
    state,
    sample: isOffline(failures, failuresByHand, failingMs)
      ? { status: 'offline', seconds }
      : { status: 'unknown', reason: 'unconfirmed', seconds },
  };
}
