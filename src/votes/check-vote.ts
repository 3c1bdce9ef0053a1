import type { Collection, ObjectId } from 'mongodb';
import type { Batcher } from '../platform/batching/batcher.ts';
import type { Clock } from '../platform/clock.ts';
import type { Durability } from '../platform/durability.ts';
import { nextVoteAt, votesInTheWay } from './cooldown.ts';
import { newestVotesTogether } from './newest-votes.ts';
import { insertedBy } from './recount-votes.ts';
import { usernameKey } from './username.ts';
import type { Vote } from './vote.ts';

type VoteCheck =
  | { hasVoted: true; votedAt: Date; nextVoteAt: Date }
  | { hasVoted: false; votedAt: null; nextVoteAt: null };

/**
 * Whether a player voted for a server in the last 24 hours, in whatever spelling of the name. A vote that is told of is
 * durable.
 */
export async function checkVote(
  {
    votes,
    batcher,
    durability,
    clock,
  }: { votes: Collection<Vote>; batcher: Batcher; durability: Durability; clock: Clock },
  serverId: ObjectId,
  username: string,
): Promise<VoteCheck> {
  const newest = await batcher.load(newestVotesTogether, votes, {
    serverId,
    usernameKey: usernameKey(username),
  });
  const [inTheWay] = votesInTheWay(newest, clock.now());
  if (!inTheWay) return { hasVoted: false, votedAt: null, nextVoteAt: null };
  await durability.confirm(insertedBy(inTheWay));
  return { hasVoted: true, votedAt: inTheWay.votedAt, nextVoteAt: nextVoteAt(inTheWay) };
}
