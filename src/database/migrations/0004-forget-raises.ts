import { ObjectId } from 'mongodb';
import { SECOND } from '../../platform/clock.ts';
import type { Mongo } from '../../platform/mongo.ts';

/**
 * Deletes what 0.1.0 notes on vote counters. A process of 0.1.0 reads its increment there right after writing it, so it
 * skips counters with increments of the last minute. It repeats for these; a recount deletes the notes too
 * (recount-votes.ts), and this version never reads them.
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
