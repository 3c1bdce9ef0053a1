import type { Collection, Document, ObjectId } from 'mongodb';
import { after, type Clock, DAY, HOUR, SECOND } from '../platform/clock.ts';
import { addDays, DayError, dayOf, startOfDay } from '../platform/periods/period-marks.ts';
import { type PausedTime, pausedTimes } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';
import type { DailyStats } from './daily-stats.ts';
import { inSlices, type SlicedServer, type SliceOptions } from './server-slices.ts';
import type { StatusSample } from './status-sample.ts';
import {
  ifAny,
  isInPause,
  LONGEST_GAP_MS,
  NO_SUMS,
  PROBE_SUMS,
  REPORT_SUMS,
  reportSpans,
  withoutPauses,
} from './sum-samples.ts';

export type AggregateDeps = {
  servers: Collection<Server>;
  statusSamples: Collection<StatusSample>;
  dailyStats: Collection<DailyStats>;
  clock: Clock;
};

/** Days older than this are not computed, because their samples expire. */
export const SAMPLE_DAYS = 34;

export function computableDays(now: Date): { first: string; last: string } {
  const today = dayOf(now);
  return { first: addDays(today, -SAMPLE_DAYS), last: addDays(today, -1) };
}

/**
 * If the day is too old, its stats that were computed or imported earlier stay.
 *
 * @throws {DayError} `day-not-over` or `day-too-old`
 */
export function requireComputable(day: string, now: Date): void {
  const { first, last } = computableDays(now);
  if (day > last) {
    throw new DayError(
      'day-not-over',
      `${day} is not over yet. The last day that can be computed is ${last}.`,
    );
  }
  if (day < first) {
    throw new DayError(
      'day-too-old',
      `${day} is too old to be computed: its samples are gone. The first day that can be computed is ${first}.`,
    );
  }
}

/**
 * Replaces earlier `daily_stats`. If a server reported again on that day after days without reports, those days are
 * computed too, because the end of the gap was unknown before. After an interruption, another run completes the day.
 * Concurrent runs have the same result. Returns the number of processed servers.
 *
 * @throws {DayError} as `requireComputable` does; the signal's reason when it is aborted
 */
export async function aggregateDay(deps: AggregateDeps, day: string, options: SliceOptions = {}) {
  const now = deps.clock.now();
  requireComputable(day, now);
  const end = after(startOfDay(day), DAY);
  return inSlices(deps, options, async (slice) => {
    for (const { servers, pauses } of byPauses(slice)) {
      const reporting = servers.filter(({ firstReportAt }) => firstReportAt && firstReportAt < end);
      const ids = { all: servers.map(({ _id }) => _id), reporting: reporting.map(({ _id }) => _id), pauses };
      const before = await computeSlice(deps, day, ids, now);
      for (const [silent, all] of await silentDays(deps, day, ids.reporting, { before, now })) {
        await computeSlice(deps, silent, { all, reporting: all, pauses }, now);
      }
    }
  });
}

/** Each server with a pause alone, because its pauses are in the query; few in most listings. */
function byPauses(slice: SlicedServer[]): { servers: SlicedServer[]; pauses: PausedTime[] }[] {
  const wasPaused = (server: SlicedServer) => pausedTimes(server).length > 0;
  const others = slice.filter((server) => !wasPaused(server));
  return [
    ...(others.length > 0 ? [{ servers: others, pauses: [] }] : []),
    ...slice.filter(wasPaused).map((server) => ({ servers: [server], pauses: pausedTimes(server) })),
  ];
}

/** `reporting`: those that reported before the end of the day; few in most listings. `pauses`: of the only server. */
type SliceIds = { all: ObjectId[]; reporting: ObjectId[]; pauses: PausedTime[] };

/**
 * Returns for each reporting server its last report before the day, if that was made at most `LONGEST_GAP_MS` before
 * the day began.
 */
async function computeSlice(
  { statusSamples, ...deps }: AggregateDeps,
  day: string,
  { all, reporting, pauses }: SliceIds,
  now: Date,
): Promise<EdgeReport[]> {
  const start = startOfDay(day);
  const end = after(start, DAY);
  const edges = await reportEdges({ statusSamples }, reporting, { start, end, now });
  const counting = (reports: EdgeReport[]) => reports.filter((report) => !isInPause(report, pauses));
  const at = { $gte: start, $lt: end };
  const reports: Document[] = [
    { $match: { serverId: { $in: reporting }, at, source: 'report' } },
    ...withoutPauses(pauses),
    { $unionWith: { pipeline: [{ $documents: counting([...edges.before, ...edges.after]) }] } },
    ...reportSpans(start, end, pauses),
    { $group: { _id: '$serverId', ...REPORT_SUMS, known: { $max: KNOWN } } },
    { $match: { known: true } },
    { $project: { reports: sums(REPORT_SUMS) } },
  ];
  const bothSources: Document[] = [
    { $unionWith: { coll: statusSamples.collectionName, pipeline: reports } },
    { $group: { _id: '$_id', probes: { $max: '$probes' }, reports: { $max: '$reports' } } },
  ];
  const pipeline: Document[] = [
    { $match: { serverId: { $in: all }, at, source: 'probe' } },
    ...withoutPauses(pauses),
    { $group: { _id: '$serverId', ...PROBE_SUMS } },
    { $project: { probes: withinDay() } },
    ...(reporting.length > 0 ? bothSources : []),
    {
      $project: {
        _id: 0,
        serverId: '$_id',
        day,
        probes: { $ifNull: ['$probes', NO_SUMS] },
        reports: { $ifNull: ['$reports', NO_SUMS] },
      },
    },
    // If the day was computed before, both sources are replaced and `_id` stays.
    { $merge: { into: deps.dailyStats.collectionName, on: ['serverId', 'day'], whenMatched: 'merge' } },
  ];
  await statusSamples.aggregate(pipeline).toArray();
  return edges.before;
}

/** The report, its valid time or the gap after it overlaps the day. */
const KNOWN = { $or: ['$isInside', { $gt: [{ $add: ['$onlineFor', '$offlineFor'] }, 0] }] };

function sums(of: Document): Document {
  const fields = Object.fromEntries(Object.keys(of).map((name) => [name, `$${name}`]));
  return { ...fields, hiddenSeconds: ifAny('$hiddenSeconds') };
}

/**
 * A probe counts with all its seconds for the day in which it was made. After an edit of the server, the seconds of two
 * probes may overlap: sums above the 86,400 s of a day are scaled down in proportion, which does not change uptime and
 * averages.
 */
function withinDay(): Document {
  const total = { $add: ['$onlineSeconds', '$offlineSeconds', '$unconfirmedSeconds', '$canarySeconds'] };
  const share = { $divide: [DAY / SECOND, { $max: [total, DAY / SECOND] }] };
  const { peakPlayers, hiddenSeconds: _hidden, ...scaled } = sums(PROBE_SUMS);
  const fields = Object.entries(scaled).map(([name, sum]) => [name, { $multiply: [sum, share] }]);
  const hiddenSeconds = ifAny({ $multiply: ['$hiddenSeconds', share] });
  return { ...Object.fromEntries(fields), peakPlayers, hiddenSeconds };
}

/**
 * The days of gaps that ended on `day`, up to `LONGEST_GAP_MS` after their beginning, each with its servers. A gap that
 * began on the previous day is left out: every day is computed again a day later anyway.
 */
async function silentDays(
  deps: AggregateDeps,
  day: string,
  serverIds: ObjectId[],
  { before, now }: { before: EdgeReport[]; now: Date },
): Promise<Map<string, ObjectId[]>> {
  const start = startOfDay(day);
  const dayBefore = after(start, -DAY);
  const first = computableDays(now).first;
  const steady = before.filter(({ at }) => at >= dayBefore);
  const begun = await edgeReports(
    deps,
    'first',
    serversWithoutReport(serverIds, steady),
    start,
    after(start, DAY),
  );
  const longAway = serversWithoutReport(
    begun.map(({ serverId }) => serverId),
    before,
  );
  const older = await edgeReports(deps, 'last', longAway, startOfDay(first), after(start, -LONGEST_GAP_MS));
  const days = new Map<string, ObjectId[]>();
  const returned = new Set(begun.map(({ serverId }) => serverId.toHexString()));
  for (const { serverId, at } of [...before, ...older]) {
    if (!returned.has(serverId.toHexString())) continue;
    const until = dayOf(after(at, LONGEST_GAP_MS));
    for (let silent = dayOf(at); silent < day && silent <= until; silent = addDays(silent, 1)) {
      if (silent >= first) days.set(silent, [...(days.get(silent) ?? []), serverId]);
    }
  }
  return days;
}

type Samples = { statusSamples: Collection<StatusSample> };

/** The last one before a span of time, or the first one after it. */
export type EdgeReport = Pick<StatusSample, 'serverId' | 'at' | 'onlinePlayers' | 'latencyMs'>;

/** Most reporting servers report all the time, so neighbours are first searched within this time. */
const NEAR_MS = HOUR;

/**
 * For each server, the last report before `start`, at most `LONGEST_GAP_MS` earlier, and the first one from `end` to
 * `now`.
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

/** From `from` (inclusive) to `to` (exclusive). */
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

export function serversWithoutReport(serverIds: ObjectId[], found: Pick<EdgeReport, 'serverId'>[]) {
  const known = new Set(found.map(({ serverId }) => serverId.toHexString()));
  return serverIds.filter((serverId) => !known.has(serverId.toHexString()));
}
