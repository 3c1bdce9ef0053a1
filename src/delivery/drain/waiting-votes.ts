import type { Collection, ObjectId } from 'mongodb';
import { OPEN_WORK, type Vote } from '../../votes/vote.ts';

/** A listener with more open votes than this has a backlog. */
export const BACKLOG_VOTES = 100;

/**
 * How many votes of a server wait to be sent.
 *
 * @param atMost - counting stops at this number, for pages that refresh every few seconds; no limit by default
 */
export function countWaiting(votes: Collection<Vote>, serverId: ObjectId, atMost?: number): Promise<number> {
  const limit = atMost === undefined ? {} : { limit: atMost };
  return votes.countDocuments({ serverId, 'delivery.state': 'waiting' }, limit);
}

/** Whether a server has more than `BACKLOG_VOTES` votes waiting or being sent. */
export async function hasBacklog(votes: Collection<Vote>, serverId: ObjectId): Promise<boolean> {
  const open = { serverId, 'delivery.queuedAt': { $gt: new Date(0) } };
  const limit = BACKLOG_VOTES + 1;
  return (await votes.countDocuments(open, { hint: OPEN_WORK, limit })) === limit;
}
