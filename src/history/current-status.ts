import { DAY, MINUTE, SECOND } from '../platform/clock.ts';
import type { Server, ServerStatus, Source } from '../servers/server.ts';

export type { Source };

/** A report stands for this long at most (design, "Periods and figures"). */
export const REPORT_VALID_MS = 15 * MINUTE;

/** A server that reports and cannot be probed is judged by its reports, for so long after the last one. */
const REPORTS_COUNT_MS = 7 * DAY;

/** An answer stands for so many of the server's present intervals. */
const INTERVALS_VALID = 3;

type Sources = Pick<Server, 'probe' | 'lastReport'>;

/** Reports when there was one in the last 7 days and no probe was answered in them; else probes. */
export function sourceAt({ probe, lastReport }: Sources, now: Date): Source {
  const since = now.getTime() - REPORTS_COUNT_MS;
  const reports = lastReport !== null && lastReport !== undefined && lastReport.at.getTime() > since;
  const answered = probe.succeededAt && probe.succeededAt.getTime() > since;
  return reports && !answered ? 'reports' : 'probes';
}

/**
 * A server's status at a moment. What is known of it fades: 15 minutes after the last report, or 3 intervals
 * after the last probe, it is unknown.
 */
export function statusAt(server: Sources, now: Date): ServerStatus {
  const { probe, lastReport } = server;
  if (sourceAt(server, now) === 'reports') {
    return lastReport && now.getTime() - lastReport.at.getTime() < REPORT_VALID_MS ? 'online' : 'unknown';
  }
  const stands = INTERVALS_VALID * probe.intervalSeconds * SECOND;
  return probe.checkedAt && now.getTime() - probe.checkedAt.getTime() <= stands ? probe.status : 'unknown';
}

/** Who said how many players are on a server now: the newest sample of any source. */
export function playersSource({
  current,
  probe,
  lastReport,
}: Sources & { current: Pick<Server['current'], 'playersSource'> }): Source {
  if (current.playersSource) return current.playersSource;
  if (!lastReport) return 'probes';
  return probe.succeededAt && probe.succeededAt >= lastReport.at ? 'probes' : 'reports';
}

/** A server's latency in milliseconds by its source; null until known and while not online. */
export function latencyAt(server: Sources & Pick<Server, 'current'>, now: Date): number | null {
  if (statusAt(server, now) !== 'online') return null;
  const latency =
    sourceAt(server, now) === 'reports' ? server.current.reportedLatencyMs : server.probe.latencyMs;
  return latency ?? null;
}
