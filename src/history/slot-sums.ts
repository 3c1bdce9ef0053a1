import type { Document, ObjectId } from 'mongodb';
import { after, HOUR, SECOND } from '../platform/clock.ts';
import { dayOf, startOfDay } from '../platform/periods/period-marks.ts';
import type { PausedTime } from '../servers/listing-pause.ts';
import type { AggregateDeps } from './aggregate-day.ts';
import type { Source } from './current-status.ts';
import type { DailySums } from './daily-stats.ts';
import type { StatusSample } from './status-sample.ts';
import { PROBE_SUMS, REPORT_SUMS, reportSpans, withoutPauses } from './sum-samples.ts';

export type BothSums = Partial<Record<Source, DailySums>>;

/** By the beginning of the hour, with the samples from `from` to `to`. */
export async function hourSums(
  { statusSamples }: AggregateDeps,
  serverId: ObjectId,
  { from, to, pauses }: { from: Date; to: Date; pauses: PausedTime[] },
) {
  const hour = { $dateTrunc: { date: '$at', unit: 'hour' } };
  const end = { $add: [hour, HOUR] };
  const samplesFrom = (source: StatusSample['source']) => ({
    $match: { serverId, at: { $gte: from, $lte: to }, source },
  });
  const grouped = (source: Source, sums: Document): Document[] => [
    { $group: { _id: hour, ...sums } },
    { $set: { source } },
  ];
  const hours = statusSamples.aggregate<DailySums & { _id: Date; source: Source; last?: StatusSample }>([
    samplesFrom('probe'),
    ...withoutPauses(pauses),
    { $set: { until: { $add: ['$at', { $multiply: ['$seconds', SECOND] }] } } },
    ...grouped('probes', { ...PROBE_SUMS, last: { $top: { sortBy: { until: -1 }, output: '$$ROOT' } } }),
    {
      $unionWith: {
        coll: statusSamples.collectionName,
        // The time after a report counts only up to the end of the hour in which the report was made.
        pipeline: [
          samplesFrom('report'),
          ...withoutPauses(pauses),
          ...reportSpans(hour, end, pauses),
          ...grouped('reports', REPORT_SUMS),
        ],
      },
    },
  ]);
  const sumsBySlot = new Map<number, BothSums>();
  const lasts: StatusSample[] = [];
  for await (const { _id, source, last, ...sums } of hours) {
    sumsBySlot.set(_id.getTime(), { ...sumsBySlot.get(_id.getTime()), [source]: sums });
    if (last) lasts.push(last);
  }
  for (const last of lasts) fillHours(sumsBySlot, last, to);
  return sumsBySlot;
}

/**
 * An hour without a probe gets the values of the last one before it, as far as its `seconds` reach: a server that has
 * been offline for long has only one probe an hour.
 */
function fillHours(sumsBySlot: Map<number, BothSums>, probe: StatusSample, now: Date): void {
  const end = Math.min(after(probe.at, probe.seconds * SECOND).getTime(), now.getTime());
  const next = (Math.floor(probe.at.getTime() / HOUR) + 1) * HOUR;
  for (let hour = next; hour < end; hour += HOUR) {
    const both = sumsBySlot.get(hour);
    if (both?.probes) return;
    sumsBySlot.set(hour, { ...both, probes: sumsOfProbe(probe, Math.min(end - hour, HOUR) / SECOND) });
  }
}

function sumsOfProbe({ status, reason, onlinePlayers, latencyMs }: StatusSample, seconds: number): DailySums {
  const online = status === 'online' ? seconds : 0;
  const unknown = status === 'unknown' ? seconds : 0;
  const isHidden = typeof onlinePlayers !== 'number';
  return {
    onlineSeconds: online,
    hiddenSeconds: isHidden ? online : 0,
    offlineSeconds: status === 'offline' ? seconds : 0,
    unconfirmedSeconds: reason === 'canary' ? 0 : unknown,
    canarySeconds: reason === 'canary' ? unknown : 0,
    playerSeconds: online * (onlinePlayers ?? 0),
    latencySum: online * (latencyMs ?? 0),
    latencySeconds: typeof latencyMs === 'number' ? online : 0,
    peakPlayers: online > 0 ? (onlinePlayers ?? 0) : 0,
  };
}

/** By the beginning of the UTC day, of the days from that of `from` to that of `to`. */
export async function daySums(
  { dailyStats }: AggregateDeps,
  serverId: ObjectId,
  { from, to }: { from: Date; to: Date },
): Promise<Map<number, BothSums>> {
  const sumsBySlot = new Map<number, BothSums>();
  const wanted = { serverId, day: { $gte: dayOf(from), $lte: dayOf(to) } };
  for await (const { day, probes, reports } of dailyStats
    .find(wanted, { projection: { foldedMoments: 0 } })
    .sort({ day: 1 })) {
    sumsBySlot.set(startOfDay(day).getTime(), { probes, reports });
  }
  return sumsBySlot;
}
