import { DAY, MINUTE, SECOND } from '../platform/clock.ts';
import type { AddressState, CheckedState } from '../servers/checked-state.ts';
import { lastPauseEnd, PAUSE_FIELDS, type Pausable, pauseAt, pausedMs } from '../servers/listing-pause.ts';
import type { Server, ServerStatus, Source } from '../servers/server.ts';

export type { Source };

/** A report is valid for at most this long (docs/architecture.md, "Periods and figures"). */
export const REPORT_VALID_MS = 15 * MINUTE;

/** Reports determine the status for this long after the last one, if no probe succeeded in the same time. */
const REPORTS_COUNT_MS = 7 * DAY;
export const REPORTS_COUNT_DAYS = REPORTS_COUNT_MS / DAY;

/** A probe's result is valid for this many probe intervals of the server. */
const INTERVALS_VALID = 3;

type Sources = Pick<Server, 'probe' | 'lastReport'> & Pausable;

export const STATUS_FIELDS = {
  'probe.status': 1,
  'probe.checkedAt': 1,
  'probe.succeededAt': 1,
  'probe.intervalSeconds': 1,
  'lastReport.at': 1,
  ...PAUSE_FIELDS,
} as const;

/**
 * `reports` if the server reported in the last 7 days and answered no probe in that time; otherwise `probes`. A pause,
 * in which nothing is probed, does not change it.
 */
export function sourceAt(server: Sources, now: Date): Source {
  const { probe, lastReport } = server;
  const until = (pauseAt(server, now)?.at ?? now).getTime();
  const days = until - REPORTS_COUNT_MS;
  const since = days - pausedMs(server.earlierPauses ?? [], days, until);
  const reports = lastReport !== null && lastReport !== undefined && lastReport.at.getTime() > since;
  const answered = probe.succeededAt && probe.succeededAt.getTime() > since;
  return reports && !answered ? 'reports' : 'probes';
}

/**
 * By the current source (`sourceAt`). With reports, it is unknown from 15 minutes after the last one; with probes, 3
 * probe intervals after the last one. In a pause it is unknown, and what was seen before the end of a pause does not count.
 */
export function statusAt(server: Sources, now: Date): ServerStatus {
  const { probe, lastReport } = server;
  const counts = countingTimes(server, now);
  if (sourceAt(server, now) === 'reports') {
    return lastReport && counts(lastReport.at) && now.getTime() - lastReport.at.getTime() < REPORT_VALID_MS
      ? 'online'
      : 'unknown';
  }
  return probe.checkedAt && counts(probe.checkedAt) ? checkedStatusAt(probe, now) : 'unknown';
}

/** Whether what was seen at a time counts: nothing does in a pause, and nothing of before the end of a pause. */
function countingTimes(server: Pausable, now: Date): (at: Date) => boolean {
  if (pauseAt(server, now)) return () => false;
  const pausedUntil = lastPauseEnd(server, now);
  return (at) => !pausedUntil || at >= pausedUntil;
}

/** Of one of two addresses, by its own checks. */
export function addressStatusAt(
  state: AddressState,
  server: Pick<Server, 'probe'> & Pausable,
  now: Date,
): ServerStatus {
  if (!state.checkedAt || !countingTimes(server, now)(state.checkedAt)) return 'unknown';
  const intervalSeconds = Math.max(state.intervalSeconds, server.probe.intervalSeconds);
  return checkedStatusAt({ ...state, intervalSeconds }, now);
}

function checkedStatusAt({ status, checkedAt, intervalSeconds }: CheckedState, now: Date): ServerStatus {
  const validMs = INTERVALS_VALID * intervalSeconds * SECOND;
  return checkedAt && now.getTime() - checkedAt.getTime() <= validMs ? status : 'unknown';
}

/**
 * An older version did not store the source: then it is that of the last report or the last answered probe, whichever
 * is newer.
 */
export function playersSource({
  current,
  probe,
  lastReport,
}: Sources & { current: Pick<Server['current'], 'playersSource'> }): Source {
  if (current.playersSource) return current.playersSource;
  if (!lastReport) return 'probes';
  return probe.succeededAt && probe.succeededAt >= lastReport.at ? 'probes' : 'reports';
}

/** A process of an older version stores a number without clearing `playersHidden`, so a number above 0 overrides it. */
export function playersHidden({
  playersHidden,
  onlinePlayers,
}: Pick<Server['current'], 'playersHidden' | 'onlinePlayers'>): boolean {
  return playersHidden === true && onlinePlayers === 0;
}

/** In milliseconds, from the current source; null if it is unknown or the server is not online. */
export function latencyAt(server: Sources & Pick<Server, 'current'>, now: Date): number | null {
  if (statusAt(server, now) !== 'online') return null;
  const latency =
    sourceAt(server, now) === 'reports' ? server.current.reportedLatencyMs : server.probe.latencyMs;
  return latency ?? null;
}
