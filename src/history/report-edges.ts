import type { Collection, ObjectId } from 'mongodb';
import { after, HOUR } from '../platform/clock.ts';
import type { StatusSample } from './status-sample.ts';
import { LONGEST_GAP_MS } from './sum-samples.ts';

type Samples = { statusSamples: Collection<StatusSample> };

/** A report next to a span of time: the last one before it, or the first one after it. */
export type EdgeReport = Pick<StatusSample, 'serverId' | 'at' | 'onlinePlayers' | 'latencyMs'>;

/** Most reporting servers report all the time, so neighbouring reports are first searched within this time. */
const NEAR_MS = HOUR;

/**
 * Finds for each server the last report before `start`, at most `LONGEST_GAP_MS` earlier, and the first report from
 * `end` to `now`.
 */
export async function reportEdges(
  deps: Samples,
  serverIds: ObjectId[],
  { start, end, now }: { start: Date; end: Date; now: Date },
): Promise<{ before: EdgeReport[]; after: EdgeReport[] }> {
  const nearStart = after(start, -NEAR_MS);
  const before = await edgeReports(deps, 'last', serverIds, nearStart, start);
  const farStart = after(start, -LONGEST_GAP_MS);
  before.push(
    ...(await edgeReports(deps, 'last', serversWithoutReport(serverIds, before), farStart, nearStart)),
  );
  const nearEnd = after(end, NEAR_MS);
  const following = await edgeReports(deps, 'first', serverIds, end, nearEnd);
  const untilNow = after(now, 1);
  if (nearEnd < untilNow) {
    const others = serversWithoutReport(serverIds, following);
    following.push(...(await edgeReports(deps, 'first', others, nearEnd, untilNow)));
  }
  return { before, after: following };
}

/** The first or last report of each server from `from` (inclusive) to `to` (exclusive). */
export async function edgeReports(
  { statusSamples }: Samples,
  which: 'first' | 'last',
  serverIds: ObjectId[],
  from: Date,
  to: Date,
): Promise<EdgeReport[]> {
  if (serverIds.length === 0) return [];
  const report = { at: '$at', onlinePlayers: '$onlinePlayers', latencyMs: '$latencyMs' };
  return await statusSamples
    .aggregate<EdgeReport>([
      { $match: { serverId: { $in: serverIds }, at: { $gte: from, $lt: to }, source: 'report' } },
      {
        $group: {
          _id: '$serverId',
          report: { $top: { sortBy: { at: which === 'first' ? 1 : -1 }, output: report } },
        },
      },
      { $replaceWith: { $mergeObjects: ['$report', { serverId: '$_id' }] } },
    ])
    .toArray();
}

/** The servers without a report in `found`. */
export function serversWithoutReport(
  serverIds: ObjectId[],
  found: Pick<EdgeReport, 'serverId'>[],
): ObjectId[] {
  const known = new Set(found.map(({ serverId }) => serverId.toHexString()));
  return serverIds.filter((serverId) => !known.has(serverId.toHexString()));
}
