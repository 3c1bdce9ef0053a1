import type { Collection, ObjectId } from 'mongodb';
import type { Batcher } from '../platform/batching/batcher.ts';
import type { Clock } from '../platform/clock.ts';
import type { Durability } from '../platform/durability.ts';
import { blockingVotes, nextVoteAt } from './cooldown.ts';
import { newestVotesLoader } from './newest-votes.ts';
import { insertedBy } from './recount-votes.ts';
import { usernameKey } from './username.ts';
import type { Vote } from './vote.ts';

type VoteCheck =
  | { hasVoted: true; votedAt: Date; nextVoteAt: Date }
  | { hasVoted: false; votedAt: null; nextVoteAt: null };

/**
 * Whether a player voted for a server in the last 24 hours, under any spelling of the name. A reported vote is durable:
 * a failover does not lose it.
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
  const newest = await batcher.load(newestVotesLoader, votes, {
    serverId,
    usernameKey: usernameKey(username),
  });
  const [blocking] = blockingVotes(newest, clock.now());
  if (!blocking) return { hasVoted: false, votedAt: null, nextVoteAt: null };
  await durability.confirm(insertedBy(blocking));
  return { hasVoted: true, votedAt: blocking.votedAt, nextVoteAt: nextVoteAt(blocking) };
}
