import type { ObjectId } from 'mongodb';
import { after, DAY, HOUR, SECOND } from '../platform/clock.ts';
import { startOfDay } from '../platform/periods/period-marks.ts';
import { PAUSE_FIELDS, type PausedTime, pausedMs, pausedTimes } from '../servers/listing-pause.ts';
import type { ServerStatus } from '../servers/server.ts';
import type { AggregateDeps } from './aggregate-day.ts';
import { REPORT_VALID_MS, type Source, sourceAt } from './current-status.ts';
import type { DailySums } from './daily-stats.ts';
import { type BothSums, daySums, hourSums } from './slot-sums.ts';
import type { StatusSample } from './status-sample.ts';
import { isInPause } from './sum-samples.ts';

/** Determines the resolution: samples, hours or days. */
export type HistoryRange = '48h' | '30d' | 'all';

/** No check was made, failed checks were not confirmed, our canary failed, or the listing was paused. */
export type NoDataReason = 'no-data' | 'paused' | 'unconfirmed' | 'canary';

/** A sample, an hour or a day. If a figure is null, it is unknown, not zero: the chart has a gap there. */
export type HistoryPoint = {
  /** The time of the sample; the beginning of the hour or UTC day. */
  at: Date;
  /** Null if there is no data. A sample with the status `unknown` has a source. */
  source: Source | null;
  averagePlayers: number | null;
  peakPlayers: number | null;
  /** Milliseconds: the average over the time online. */
  latencyMs: number | null;
  /** Online time ÷ (online + offline), 0 to 1. */
  onlineShare: number | null;
  /** Set only where `onlineShare` is null. */
  reason: NoDataReason | null;
};

export type History = { resolution: 'samples' | 'hours' | 'days'; points: HistoryPoint[] };

/**
 * Oldest first. `48h` has the samples of the current source (`sourceAt`). In `30d` (hours) and `all` (days), each point
 * uses the other source if the current one has no data for it.
 */
export async function historyOf(
  deps: AggregateDeps,
  serverId: ObjectId,
  range: HistoryRange,
): Promise<History> {
  if (range === '48h') return { resolution: 'samples', points: await samplePoints(deps, serverId) };
  const { currentSource, pointsOf } = await readSlots(deps, serverId, range);
  return pointsOf(bothFrom(currentSource));
}

/**
 * If probes are the current source: `reported` is from the server's own reports, or null without reports. If reports
 * are: `history` is from both, and `reported` is null.
 */
export async function historyAndReports(
  deps: AggregateDeps,
  serverId: ObjectId,
  range: Exclude<HistoryRange, '48h'>,
): Promise<{ history: History; reported: History | null }> {
  const { currentSource, sumsBySlot, pointsOf } = await readSlots(deps, serverId, range);
  if (currentSource === 'reports') return { history: pointsOf(['reports', 'probes']), reported: null };
  const hasReports = [...sumsBySlot.values()].some(({ reports }) => knownSeconds(reports) > 0);
  return { history: pointsOf(['probes']), reported: hasReports ? pointsOf(['reports']) : null };
}

/** `at`, or the beginning of the next step. */
export function nextStep(step: 'hour' | 'day', at: Date): Date {
  const ms = step === 'hour' ? HOUR : DAY;
  return new Date(Math.ceil(at.getTime() / ms) * ms);
}

/** The slots that begin from `from` on, with the samples up to `to`. */
type Slots = { step: 'hour' | 'day'; from: Date; to: Date };

/** Each point of `pointsOf` is from the first given source that has data. */
async function readSlots(
  deps: AggregateDeps,
  serverId: ObjectId,
  range: Exclude<HistoryRange, '48h'> | Slots,
) {
  const { currentSource, pauses } = await shownOf(deps, serverId);
  const now = deps.clock.now();
  const { step, from, to }: Slots =
    range === '30d'
      ? { step: 'hour', from: nextStep('hour', after(now, -30 * DAY)), to: now }
      : range === 'all'
        ? { step: 'day', from: new Date(0), to: now }
        : range;
  const byHour = step === 'hour';
  const until = to < now ? to : now;
  const sumsBySlot = await (byHour
    ? hourSums(deps, serverId, { from, to: until, pauses })
    : daySums(deps, serverId, { from, to: until }));
  const resolution: History['resolution'] = byHour ? 'hours' : 'days';
  const pointsOf = (sources: Source[]): History => ({
    resolution,
    points: everySlot(sumsBySlot, byHour ? HOUR : DAY, { sources, pauses }),
  });
  return { currentSource, sumsBySlot, pointsOf };
}

/** A UTC day hour by hour, as `historyOf`. */
export async function hoursOfDay(deps: AggregateDeps, serverId: ObjectId, day: string): Promise<History> {
  const from = startOfDay(day);
  const { pointsOf, currentSource } = await readSlots(deps, serverId, {
    step: 'hour',
    from,
    to: after(from, DAY - 1),
  });
  return pointsOf(bothFrom(currentSource));
}

/** The hours or UTC days that begin at or after `from` and before `to`, as `historyOf`. */
export async function historyBetween(
  deps: AggregateDeps,
  serverId: ObjectId,
  { step, from, to }: Slots,
): Promise<HistoryPoint[]> {
  const slots = { step, from: nextStep(step, from), to: after(nextStep(step, to), -1) };
  const { pointsOf, currentSource } = await readSlots(deps, serverId, slots);
  return pointsOf(bothFrom(currentSource)).points;
}

const bothFrom = (source: Source): Source[] =>
  source === 'probes' ? ['probes', 'reports'] : ['reports', 'probes'];

/** The current source of the server, and its pauses. */
export async function shownOf(
  { servers, clock }: AggregateDeps,
  serverId: ObjectId,
): Promise<{ currentSource: Source; pauses: PausedTime[] }> {
  const projection = { probe: 1, lastReport: 1, ...PAUSE_FIELDS };
  const server = await servers.findOne({ _id: serverId }, { projection });
  if (!server) return { currentSource: 'probes', pauses: [] };
  return { currentSource: sourceAt(server, clock.now()), pauses: pausedTimes(server) };
}

const gapAt = (at: Date, reason: NoDataReason = 'no-data'): HistoryPoint => ({
  at,
  source: null,
  averagePlayers: null,
  peakPlayers: null,
  latencyMs: null,
  onlineShare: null,
  reason,
});

/** A sample is valid for this many of its intervals, as the status is, but for at least `REPORT_VALID_MS`. */
const INTERVALS_VALID = 3;

const SAMPLE_SOURCES = { probes: 'probe', reports: 'report' } as const satisfies Record<
  Source,
  StatusSample['source']
>;

const SHARE: Record<ServerStatus, number | null> = { online: 1, offline: 0, unknown: null };

async function samplePoints(deps: AggregateDeps, serverId: ObjectId): Promise<HistoryPoint[]> {
  const { statusSamples, clock } = deps;
  const { currentSource, pauses } = await shownOf(deps, serverId);
  const from = after(clock.now(), -2 * DAY);
  const samples = statusSamples
    .find({ serverId, at: { $gte: from }, source: SAMPLE_SOURCES[currentSource] })
    .sort({ at: 1 });
  const points: HistoryPoint[] = [];
  let knownUntil: Date | undefined;
  const gap = (from: Date) =>
    gapAt(from, pauses.some((one) => one.from <= from && from < one.until) ? 'paused' : 'no-data');
  for await (const { at, seconds, status, reason, onlinePlayers, latencyMs } of samples) {
    if (isInPause({ at }, pauses)) continue;
    if (knownUntil && knownUntil < at) points.push(gap(knownUntil));
    const players = status === 'online' ? (onlinePlayers ?? null) : null;
    points.push({
      at,
      source: currentSource,
      averagePlayers: players,
      peakPlayers: players,
      latencyMs: status === 'online' ? (latencyMs ?? null) : null,
      onlineShare: SHARE[status],
      reason: status === 'unknown' ? (reason ?? 'unconfirmed') : null,
    });
    const validMs = Math.max(INTERVALS_VALID * seconds * SECOND, REPORT_VALID_MS);
    const validUntil = untilPause(at, after(at, validMs), pauses);
    if (!knownUntil || validUntil > knownUntil) knownUntil = validUntil;
  }
  if (knownUntil && knownUntil <= clock.now()) points.push(gap(knownUntil));
  return points;
}

/** `until`, or the beginning of the first pause after `at` if that is earlier. */
function untilPause(at: Date, until: Date, pauses: PausedTime[]): Date {
  const next = pauses.find(({ from }) => from > at);
  return next && next.from < until ? next.from : until;
}

/** From the first to the last slot with data. */
function everySlot(
  sumsBySlot: Map<number, BothSums>,
  slotMs: number,
  { sources, pauses }: { sources: Source[]; pauses: PausedTime[] },
): HistoryPoint[] {
  const times = [...sumsBySlot.keys()].toSorted((a, b) => a - b);
  const last = times.at(-1);
  const points: HistoryPoint[] = [];
  if (last === undefined) return points;
  for (let at = times[0] ?? last; at <= last; at += slotMs) {
    const point = slotPoint(new Date(at), sumsBySlot.get(at) ?? {}, sources);
    const isPaused = point.reason === 'no-data' && pausedMs(pauses, at, at + slotMs) > 0;
    points.push(isPaused ? { ...point, reason: 'paused' } : point);
  }
  return points;
}

function slotPoint(at: Date, both: BothSums, sources: Source[]): HistoryPoint {
  const source = sources.find((source) => knownSeconds(both[source]) > 0);
  const sums = source && both[source];
  if (!source || !sums) return gapAt(at, reasonOf(both.probes));
  const online = sums.onlineSeconds;
  const visible = online - (sums.hiddenSeconds ?? 0);
  return {
    at,
    source,
    averagePlayers: visible > 0 ? sums.playerSeconds / visible : null,
    peakPlayers: visible > 0 ? sums.peakPlayers : null,
    latencyMs: sums.latencySeconds > 0 ? sums.latencySum / sums.latencySeconds : null,
    onlineShare: online / knownSeconds(sums),
    reason: null,
  };
}

function knownSeconds(sums: DailySums | undefined): number {
  return sums ? sums.onlineSeconds + sums.offlineSeconds : 0;
}

function reasonOf(probes: DailySums | undefined): NoDataReason {
  if (!probes || probes.canarySeconds + probes.unconfirmedSeconds === 0) return 'no-data';
  return probes.canarySeconds >= probes.unconfirmedSeconds ? 'canary' : 'unconfirmed';
}
