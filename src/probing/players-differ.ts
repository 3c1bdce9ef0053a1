import type { Document } from 'mongodb';
import { after, HOUR } from '../platform/clock.ts';

/** A report and an answer further apart are not compared: players come and go. */
export const COMPARED_WITHIN_MS = HOUR;

/** So many players of difference are never remarked, nor is a difference of half of the larger figure. */
const ALWAYS_ALLOWED = 10;
const ALLOWED_PART = 0.5;

/**
 * Compares an answer's players with those that the server reported itself within the last hour, in the update that
 * records the answer: `playersDiffer` is set where they differ by more than 10 and by more than half of the larger
 * one, and goes with the next comparison that finds nothing. A report is compared once, by the first answer after
 * it: the current figures are the report's only until then.
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
