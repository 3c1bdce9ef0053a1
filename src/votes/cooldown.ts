import type { Collection, ObjectId } from 'mongodb';
import { after, HOUR } from '../clock.ts';
import type { Vote } from './vote.ts';

/** A player may vote once for a server in any rolling time of this length. */
export const COOLDOWN_MS = 24 * HOUR;

/** The moment from which, itself included, the player of `vote` may vote for that server again. */
export function nextVoteAt(vote: Pick<Vote, 'votedAt'>): Date {
  return after(vote.votedAt, COOLDOWN_MS);
}

/** Whether `vote` still keeps its player from voting at `now`. */
export function blocks(vote: Pick<Vote, 'votedAt' | 'cooldownEndedAt'>, now: Date): boolean {
  return !vote.cooldownEndedAt && now < nextVoteAt(vote);
}

/**
 * The newest vote of a player for a server: the one with the highest `seq`. Read at majority: what is told of a
 * vote must not be taken back by a failover.
 */
export function newestVote(
  votes: Collection<Vote>,
  serverId: ObjectId,
  usernameKey: string,
): Promise<Vote | null> {
  return votes.findOne({ serverId, usernameKey }, { sort: { seq: -1 }, readConcern: { level: 'majority' } });
}
