import { setTimeout as pause } from 'node:timers/promises';
import { type Collection, type ObjectId, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import type { Batcher } from '../platform/batching/batcher.ts';
import { after } from '../platform/clock.ts';
import { isUnknownResult, OPERATION_TIMEOUT_MS } from '../platform/mongo.ts';
import type { Server } from '../servers/server.ts';
import { REPORT_VALID_MS, type Source } from './current-status.ts';
import { keepSample } from './keep-sample.ts';
import type { StatusSample } from './status-sample.ts';
import { lastReports, REPORT_INTERVAL_MS, type Report, takeReports } from './take-reports.ts';
import { type Waking, wakeListener } from './wake-listener.ts';

export { REPORT_INTERVAL_MS };

/** What a server says of itself. A field left out keeps its last value. */
type StatusReport = {
  /** Players on the server, 0 or more. */
  onlinePlayers: number;
  /** −1 means "no limit" and is stored as 0. */
  maxPlayers: number;
  /** Milliseconds; a negative one counts as left out. */
  latencyMs?: number | undefined;
  motd?: string | undefined;
  version?: string | undefined;
};

type Reported = { kind: 'accepted'; reportedAt: Date } | { kind: 'refused'; nextAllowedAt: Date };

/** `previousAt`: the report before it; null when there was none, or when that cannot be known. */
type Updated = { kind: 'accepted'; previousAt: Date | null } | Extract<Reported, { kind: 'refused' }>;

type Reporting = Waking & {
  servers: Collection<Server>;
  statusSamples: Collection<StatusSample>;
  batcher: Batcher;
};

const TRY_AGAIN_MS = 20;

/**
 * Takes a server's report of its own status, one in five minutes, however many race: one conditional update of
 * the server's document decides and carries the whole report. The sample for the history follows; when it
 * fails the report is taken all the same. A report after more than 15 minutes without one is a return: the server's
 * vote listener, if it is unreachable, is tested now.
 *
 * @throws the driver's error when the database fails, or when it cannot be known whether the report was taken
 */
export async function reportStatus(
  deps: Reporting,
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
    'current.maxPlayers': maxPlayers,
    'current.playersSource': 'reports' satisfies Source,
    'current.reportedLatencyMs': latencyMs,
    'current.motd': report.motd,
    'current.version': report.version,
    'current.checkedAt': now,
  };
  // The client leaves out what is undefined (mongo.ts, ignoreUndefined).
  const updated = await updateOnce(deps, serverId, lastReport, fields);
  if (updated.kind === 'refused') return updated;
  await keepSample(deps, {
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
  if (returned) await wakeListener(deps, serverId);
  return { kind: 'accepted', reportedAt: now };
}

/**
 * Makes the update unless a report stands less than five minutes before it. After an update whose end is
 * unknown the document is read: our own id there means that it was made; otherwise it is sent again.
 */
async function updateOnce(
  { servers, batcher }: Pick<Reporting, 'servers' | 'batcher'>,
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
    await pause(TRY_AGAIN_MS);
  }
}
