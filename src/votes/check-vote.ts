import type { Collection, ObjectId } from 'mongodb';
import type { Clock } from '../clock.ts';
import { newestVotes, nextVoteAt, votesInTheWay } from './cooldown.ts';
import { usernameKey } from './username.ts';
import type { Vote } from './vote.ts';

export type VoteCheck =
  | { hasVoted: true; votedAt: Date; nextVoteAt: Date }
  | { hasVoted: false; votedAt: null; nextVoteAt: null };

/** Whether a player voted for a server in the last 24 hours, in whatever spelling of the name. */
export async function checkVote(
  { votes, clock }: { votes: Collection<Vote>; clock: Clock },
  serverId: ObjectId,
  username: string,
): Promise<VoteCheck> {
  const newest = await newestVotes(votes, serverId, usernameKey(username));
  const [inTheWay] = votesInTheWay(newest, clock.now());
  if (!inTheWay) return { hasVoted: false, votedAt: null, nextVoteAt: null };
  return { hasVoted: true, votedAt: inTheWay.votedAt, nextVoteAt: nextVoteAt(inTheWay) };
}
