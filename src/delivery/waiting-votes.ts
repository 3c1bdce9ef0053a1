import type { Collection, ObjectId } from 'mongodb';
import type { Vote } from '../votes/vote.ts';

/** How many votes of a server wait to be sent. */
export function countWaiting(votes: Collection<Vote>, serverId: ObjectId): Promise<number> {
  return votes.countDocuments({ serverId, 'delivery.state': 'waiting' });
}
