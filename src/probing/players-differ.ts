import type { Document } from 'mongodb';
import { after, HOUR } from '../platform/clock.ts';

/** An answer is compared only with a report that is younger than this, because the number of players changes. */
export const COMPARED_WITHIN_MS = HOUR;

/** Smaller differences are ignored: up to this many players, or up to this part of the larger number. */
const ALWAYS_ALLOWED = 10;
const ALLOWED_PART = 0.5;

/**
 * Compares an answer's number of players with the number that the server reported within the last hour, as a part of
 * the update that records the answer. `playersDiffer` is set if the numbers differ by more than 10 and by more than
 * half of the larger one; the next comparison without such a difference removes it. A report is compared only with the
 * first check after it, and only if that check is answered.
 *
 * @returns fields of a `$set` stage
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
