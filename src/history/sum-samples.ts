import type { Collection, Document, ObjectId } from 'mongodb';
import { DAY, SECOND } from '../platform/clock.ts';
import type { PausedTime } from '../servers/listing-pause.ts';
import { REPORT_VALID_MS } from './current-status.ts';
import { type DailyStats, type DailySums, emptySums } from './daily-stats.ts';
import type { StatusSample } from './status-sample.ts';

/**
 * After a report's 15 valid minutes, the time to the next one counts as offline, up to this long after the report.
 * Later the status does not depend on reports (see `sourceAt`).
 */
export const LONGEST_GAP_MS = 7 * DAY;

/** Expressions: the seconds of a sample by status; `counted`: whether its players count for the peak. */
type Spans = { online: unknown; offline: unknown; unconfirmed: unknown; canary: unknown; counted: unknown };

/**
 * For a `$group`: each sample is weighted by its seconds. `$sum` ignores null: a sample without players or latency adds
 * nothing.
 */
function sumsOf({ online, offline, unconfirmed, canary, counted }: Spans): Document {
  return {
    onlineSeconds: { $sum: online },
    offlineSeconds: { $sum: offline },
    unconfirmedSeconds: { $sum: unconfirmed },
    canarySeconds: { $sum: canary },
    hiddenSeconds: { $sum: { $cond: [{ $isNumber: '$onlinePlayers' }, 0, online] } },
    playerSeconds: { $sum: { $multiply: [online, '$onlinePlayers'] } },
    latencySum: { $sum: { $multiply: [online, '$latencyMs'] } },
    latencySeconds: { $sum: { $cond: [{ $isNumber: '$latencyMs' }, online, 0] } },
    peakPlayers: { $max: { $cond: [counted, { $ifNull: ['$onlinePlayers', 0] }, 0] } },
  };
}

/** Most servers never hide their players, so their days need no `hiddenSeconds`. */
export const ifAny = (seconds: unknown) => ({ $cond: [{ $gt: [seconds, 0] }, seconds, '$$REMOVE'] });

const hasStatus = (status: string) => ({ $eq: ['$status', status] });
const isCanary = { $eq: ['$reason', 'canary'] };
const secondsWhere = (...all: unknown[]) => ({ $cond: [{ $and: all }, '$seconds', 0] });

/** A probe counts with all its seconds for the day or hour in which it was made. */
export const PROBE_SUMS: Document = sumsOf({
  online: { $cond: [hasStatus('online'), '$seconds', 0] },
  offline: { $cond: [hasStatus('offline'), '$seconds', 0] },
  unconfirmed: secondsWhere(hasStatus('unknown'), { $not: isCanary }),
  canary: secondsWhere(hasStatus('unknown'), isCanary),
  counted: hasStatus('online'),
});

export type SummedSample = Pick<
  StatusSample,
  'serverId' | 'at' | 'seconds' | 'status' | 'reason' | 'onlinePlayers' | 'latencyMs'
>;

/** Of samples that are not stored, by server and UTC day, as MongoDB computes those of stored ones. */
export function sumProbes({ dailyStats }: { dailyStats: Collection<DailyStats> }, samples: SummedSample[]) {
  // Only these fields are passed, no free text: `$documents` evaluates a text that begins with a dollar sign.
  const documents = samples.map(
    ({ serverId, at, seconds, status, reason = null, onlinePlayers = null, latencyMs = null }) => {
      return { serverId, at, seconds, status, reason, onlinePlayers, latencyMs };
    },
  );
  const day = { $dateToString: { date: '$at', format: '%Y-%m-%d' } };
  const pipeline: Document[] = [
    { $match: { _id: null } },
    { $unionWith: { pipeline: [{ $documents: documents }] } },
    { $group: { _id: { serverId: '$serverId', day }, ...PROBE_SUMS } },
    { $set: { hiddenSeconds: ifAny('$hiddenSeconds') } },
  ];
  return dailyStats.aggregate<DailySums & { _id: { serverId: ObjectId; day: string } }>(pipeline).toArray();
}

/** The stages of `reportSpans` must come before, because they compute the fields. */
export const REPORT_SUMS: Document = sumsOf({
  online: '$onlineFor',
  offline: '$offlineFor',
  unconfirmed: 0,
  canary: 0,
  counted: '$isInside',
});

/**
 * Leaves out the samples of one server that were made in a pause. A probe's seconds end when a pause begins; so does
 * the time after a report (`reportSpans`).
 */
export function withoutPauses(pauses: PausedTime[]): Document[] {
  if (pauses.length === 0) return [];
  const untilPause = pauses.map(({ from }) => ({
    $cond: [{ $lt: ['$at', from] }, secondsBetween('$at', from), '$seconds'],
  }));
  return [
    { $match: { $nor: pauses.map(({ from, until }) => ({ at: { $gte: from, $lt: until } })) } },
    { $set: { seconds: { $min: ['$seconds', ...untilPause] } } },
  ];
}

export function isInPause({ at }: { at: Date }, pauses: PausedTime[]): boolean {
  return pauses.some(({ from, until }) => from <= at && at < until);
}

export const NO_SUMS: Document = emptySums();

const later = (a: unknown, b: unknown) => ({ $max: [a, b] });
const secondsBetween = (from: unknown, to: unknown) => ({
  $max: [0, { $divide: [{ $subtract: [to, from] }, SECOND] }],
});

/** Null, which `$min` ignores, if the report is later. */
const beginning = ({ from }: PausedTime) => ({ $cond: [{ $lt: ['$at', from] }, from, null] });

/**
 * For each report, its seconds between `start` and `end`: online (up to the next report, at most 15 minutes) and
 * offline (the rest of the time to the next report, up to 7 days after the report). The newest report has no offline
 * time. The beginning of a pause ends both, as a next report would; the reports made in it must be left out.
 */
export function reportSpans(start: unknown, end: unknown, pauses: PausedTime[] = []): Document[] {
  const validUntil = { $add: ['$at', REPORT_VALID_MS] };
  return [
    {
      $setWindowFields: {
        partitionBy: '$serverId',
        sortBy: { at: 1 },
        output: { next: { $shift: { output: '$at', by: 1, default: null } } },
      },
    },
    ...(pauses.length > 0 ? [{ $set: { next: { $min: ['$next', ...pauses.map(beginning)] } } }] : []),
    {
      $set: {
        isInside: { $and: [{ $gte: ['$at', start] }, { $lt: ['$at', end] }] },
        // If there is no next report, `$next` is null, which `$min` ignores.
        onlineFor: secondsBetween(later('$at', start), { $min: [validUntil, '$next', end] }),
        offlineFor: {
          $cond: [
            { $eq: ['$next', null] },
            0,
            secondsBetween(later(validUntil, start), {
              $min: [{ $add: ['$at', LONGEST_GAP_MS] }, '$next', end],
            }),
          ],
        },
      },
    },
  ];
}
