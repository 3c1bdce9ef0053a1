import { ObjectId } from 'mongodb';
import { SECOND } from '../../platform/clock.ts';
import type { Mongo } from '../../platform/mongo.ts';

/**
 * Deletes the record of increments that 0.1.0 stores on vote counters. A process of 0.1.0 reads its increment right
 * after writing it, so counters with increments of the last minute are skipped. The migration repeats for these; a
 * recount deletes the records too (recount-votes.ts). This version never reads them.
 */
export async function forgetRaises({ db }: Mongo): Promise<void> {
  const minuteAgo = ObjectId.createFromTime(Math.floor(Date.now() / SECOND) - 60);
  await db
    .collection('vote_counters')
    .updateMany(
      { raises: { $exists: true }, 'raises.id': { $not: { $gte: minuteAgo } } },
      { $unset: { raises: true, recount: true } },
    );
}
