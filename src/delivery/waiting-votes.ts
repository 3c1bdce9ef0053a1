import type { Collection, ObjectId } from 'mongodb';
import type { Vote } from '../votes/vote.ts';

/**
 * How many votes of a server wait to be sent.
 *
 * @param atMost - nothing is counted further, for pages that ask every few seconds; all of them by default
 */
export function countWaiting(votes: Collection<Vote>, serverId: ObjectId, atMost?: number): Promise<number> {
  const limit = atMost === undefined ? {} : { limit: atMost };
  return votes.countDocuments({ serverId, 'delivery.state': 'waiting' }, limit);
}
