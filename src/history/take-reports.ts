import type { Collection, ObjectId, UUID } from 'mongodb';
import type { BatchLoader } from '../platform/batching/batcher.ts';
import { sendWrites } from '../platform/batching/write-loaders.ts';
import { after, MINUTE } from '../platform/clock.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import { REPLICATED } from '../platform/mongo.ts';
import type { Server } from '../servers/server.ts';
import { serverLoader } from '../servers/server-loader.ts';

export const REPORT_INTERVAL_MS = defineLimit({
  key: 'status',
  what: 'Reports of a status',
  of: 'server',
  times: 1,
  windowMs: 5 * MINUTE,
  beyond: '429 `too-early`',
}).windowMs;
export const REPORT_INTERVAL_MINUTES = REPORT_INTERVAL_MS / MINUTE;

/** `ours`: its id and time, which `fields` has as `lastReport`. */
export type Report = {
  serverId: ObjectId;
  ours: { id: UUID; at: Date };
  fields: Partial<Record<string, unknown>>;
};

/** Null if the report is too early or its server does not exist. */
type Taken = { previousAt: Date | null } | null;

export const lastReports = serverLoader({ lastReport: 1 });

/**
 * Each report is one conditional update. For several updates in one command, MongoDB does not say which of them
 * matched. If not all did, the report ids in the documents show it.
 */
export const takeReports: BatchLoader<Collection<Server>, Report, Taken> = {
  most: 200,
  async load(servers, reports) {
    const [only] = reports;
    if (only && reports.length === 1) return [await takeReport(servers, only)];
    const before = await reportsOf(servers, reports);
    // A report that comes too early is not sent to MongoDB.
    const open = reports.filter((report, i) => isOpen(before[i], report));
    const updates = open.map((report) => ({ q: matching(report), u: changes(report) }));
    const { n, errors } =
      open.length > 0 ? await sendWrites(servers, { updates }, REPLICATED) : { n: 0, errors: new Map() };
    const now = n === open.length ? null : await reportsOf(servers, open);
    return reports.map((report, i): Taken | Error => {
      const index = open.indexOf(report);
      if (index < 0) return null;
      const error = errors.get(index);
      if (error) return error;
      const taken = !now || now[index]?.id.equals(report.ours.id);
      return taken ? { previousAt: before[i]?.at ?? null } : null;
    });
  },
};

async function takeReport(servers: Collection<Server>, report: Report): Promise<Taken> {
  const before = await servers.findOneAndUpdate(matching(report), changes(report), {
    projection: { lastReport: 1 },
  });
  return before && { previousAt: before.lastReport?.at ?? null };
}

async function reportsOf(servers: Collection<Server>, reports: Report[]): Promise<Server['lastReport'][]> {
  const found = await lastReports.load(
    servers,
    reports.map(({ serverId }) => serverId),
  );
  return found.map((server) => (server instanceof Error ? null : server?.lastReport));
}

function isOpen(before: Server['lastReport'], { ours }: Report): boolean {
  return !before || before.at <= after(ours.at, -REPORT_INTERVAL_MS);
}

function matching({ serverId, ours }: Report) {
  const lastAt = { $lte: after(ours.at, -REPORT_INTERVAL_MS) };
  return { _id: serverId, $or: [{ lastReport: null }, { 'lastReport.at': lastAt }] };
}

function changes({ ours, fields }: Report) {
  return { $set: fields, $min: { firstReportAt: ours.at } };
}
