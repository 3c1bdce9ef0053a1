import { setTimeout as pause } from 'node:timers/promises';
import { type ObjectId, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { after } from '../platform/clock.ts';
import { isUnknownResult, OPERATION_TIMEOUT_MS } from '../platform/mongo.ts';
import { REPORT_VALID_MS, type Source } from './current-status.ts';
import type { HistoryDeps } from './deps.ts';
import { storeSample } from './store-sample.ts';
import { lastReports, REPORT_INTERVAL_MS, type Report, takeReports } from './take-reports.ts';
import { testReturnedListener } from './test-returned-listener.ts';

/** An omitted field keeps its last value. */
type StatusReport = {
  onlinePlayers: number;
  /** −1 means "no limit" and is stored as 0. */
  maxPlayers: number;
  /** Milliseconds; a negative value counts as omitted. */
  latencyMs?: number | undefined;
  motd?: string | undefined;
  version?: string | undefined;
};

type Reported = { kind: 'accepted'; reportedAt: Date } | { kind: 'refused'; nextAllowedAt: Date };

/** `previousAt`: the time of the previous report; null if there was none or its time is unknown. */
type Updated = { kind: 'accepted'; previousAt: Date | null } | Extract<Reported, { kind: 'refused' }>;

const RETRY_MS = 20;

/**
 * At most one in five minutes. One conditional update of the server's document decides between concurrent reports and
 * writes the whole report; a failure to store the sample does not affect it. If no report is known from the 15 minutes
 * before, the server is back: its vote listener, if unreachable, is tested now.
 *
 * @throws the error of the driver or the batcher when the database fails or it is unknown whether the report was
 *   accepted; an `Error` when there is no such server
 */
export async function reportStatus(
  deps: HistoryDeps,
  serverId: ObjectId,
  report: StatusReport,
): Promise<Reported> {
  const now = deps.clock.now();
  const onlinePlayers = report.onlinePlayers;
  const maxPlayers = Math.max(report.maxPlayers, 0);
  const latencyMs = report.latencyMs !== undefined && report.latencyMs >= 0 ? report.latencyMs : undefined;
  const lastReport = { id: new UUID(uuidv7({ msecs: now.getTime() })), at: now };
  const fields: Partial<Record<string, unknown>> = {
    lastReport,
    'current.onlinePlayers': onlinePlayers,
    'current.playersHidden': false,
    'current.maxPlayers': maxPlayers,
    'current.playersSource': 'reports' satisfies Source,
    'current.reportedLatencyMs': latencyMs,
    'current.motd': report.motd,
    'current.version': report.version,
    'current.checkedAt': now,
  };
  // Omitted fields keep their values: the driver does not write undefined (mongo.ts, ignoreUndefined).
  const updated = await updateOnce(deps, serverId, lastReport, fields);
  if (updated.kind === 'refused') return updated;
  await storeSample(deps, {
    at: now,
    serverId,
    source: 'report',
    seconds: 0,
    status: 'online',
    onlinePlayers,
    maxPlayers,
    latencyMs: latencyMs ?? null,
  });
  const { previousAt } = updated;
  const returned = !previousAt || after(previousAt, REPORT_VALID_MS) < now;
  if (returned) await testReturnedListener(deps, serverId);
  return { kind: 'accepted', reportedAt: now };
}

/**
 * If the result of an update is unknown, the document is read: with the id of `ours` in `lastReport`, the update was
 * made; otherwise it is sent again.
 */
async function updateOnce(
  { servers, batcher }: HistoryDeps,
  serverId: ObjectId,
  ours: Report['ours'],
  fields: Report['fields'],
): Promise<Updated> {
  const deadline = Date.now() + OPERATION_TIMEOUT_MS;
  for (;;) {
    try {
      const taken = await batcher.load(takeReports, servers, { serverId, ours, fields });
      if (taken) return { kind: 'accepted', ...taken };
    } catch (error) {
      if (!isUnknownResult(error) || Date.now() >= deadline) throw error;
    }
    const server = await batcher.load(lastReports, servers, serverId);
    if (!server) throw new Error(`there is no server ${serverId.toHexString()}`);
    const existing = server.lastReport;
    if (existing && ours.id.equals(existing.id)) return { kind: 'accepted', previousAt: null };
    if (existing && after(existing.at, REPORT_INTERVAL_MS) > ours.at) {
      return { kind: 'refused', nextAllowedAt: after(existing.at, REPORT_INTERVAL_MS) };
    }
    await pause(RETRY_MS);
  }
}
