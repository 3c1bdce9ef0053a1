import type { Collection, ObjectId } from 'mongodb';
import { after, HOUR } from '../platform/clock.ts';
import type { StatusSample } from './status-sample.ts';
import { LONGEST_GAP_MS } from './sum-samples.ts';

type Samples = { statusSamples: Collection<StatusSample> };

/** A report beside a span of time: what stood when it began, or what ended its last gap. */
export type EdgeReport = Pick<StatusSample, 'serverId' | 'at' | 'onlinePlayers' | 'latencyMs'>;

/** Most servers that report do so all the time: their neighbouring reports are looked for here first. */
const NEAR_MS = HOUR;

/**
 * For each server the last report before `start`, as far as it can matter after it, and the first one from `end`
 * on.
 *
 * @param now - no report is younger
 */
export async function reportEdges(
  deps: Samples,
  serverIds: ObjectId[],
  { start, end, now }: { start: Date; end: Date; now: Date },
): Promise<{ before: EdgeReport[]; behind: EdgeReport[] }> {
  const near = after(start, -NEAR_MS);
  const before = await reportsAt(deps, 'last', serverIds, near, start);
  before.push(
    ...(await reportsAt(deps, 'last', without(serverIds, before), after(start, -LONGEST_GAP_MS), near)),
  );
  const nearEnd = after(end, NEAR_MS);
  const behind = await reportsAt(deps, 'first', serverIds, end, nearEnd);
  const late = after(now, 1);
  if (nearEnd < late)
    behind.push(...(await reportsAt(deps, 'first', without(serverIds, behind), nearEnd, late)));
  return { before, behind };
}

/**
 * The first or last report of each server in `from` (inclusive) to `to` (exclusive). Buckets that hold no report
 * are passed over unread.
 */
export async function reportsAt(
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

/** Those servers of which there is no report among `found`. */
export function without(serverIds: ObjectId[], found: Pick<EdgeReport, 'serverId'>[]): ObjectId[] {
  const known = new Set(found.map(({ serverId }) => serverId.toHexString()));
  return serverIds.filter((serverId) => !known.has(serverId.toHexString()));
}
