import type { Document } from 'mongodb';
import { after, HOUR } from '../platform/clock.ts';

/** The number of players changes. */
export const COMPARED_WITHIN_MS = HOUR;

/** Up to this many players, or this part of the larger number. */
const ALWAYS_ALLOWED = 10;
const ALLOWED_PART = 0.5;

/**
 * A part of the update that records an answer. `playersDiffer` is set if the last hour's report told another number,
 * and removed by the next comparison without a difference. A report is compared only with the first check after it, and
 * only if that check is answered.
 */
export function comparedPlayers(probed: number, now: Date): Document {
  const reported = '$current.onlinePlayers';
  const isFreshReport = {
    $and: [
      { $eq: ['$lastReport.at', '$current.checkedAt'] },
      { $gt: ['$lastReport.at', after(now, -COMPARED_WITHIN_MS)] },
    ],
  };
  const allowed = { $max: [ALWAYS_ALLOWED, { $multiply: [ALLOWED_PART, { $max: [reported, probed] }] }] };
  const differs = { $gt: [{ $abs: { $subtract: [reported, probed] } }, allowed] };
  const found = { at: now, reported, probed: { $literal: probed } };
  return {
    playersDiffer: { $cond: [isFreshReport, { $cond: [differs, found, '$$REMOVE'] }, '$playersDiffer'] },
  };
}
