import type { Collection, ObjectId } from 'mongodb';
import type { Clock } from '../platform/clock.ts';
import type { Vote } from './vote.ts';

/** A player and how often they voted. */
export type TopVoter = {
  /** In the spelling of their newest vote. */
  username: string;
  votes: number;
  lastVotedAt: Date;
};

/**
 * The players with the most votes for a server in the current UTC month, without excluded votes. Of equal players, the
 * one whose last vote is older is first. Reads that month's votes of the server once, by their index.
 */
export function topVoters(
  { votes, clock }: { votes: Collection<Vote>; clock: Clock },
  serverId: ObjectId,
  limit: number,
): Promise<TopVoter[]> {
  const now = clock.now();
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
  return votes
    .aggregate<TopVoter>([
      { $match: { serverId, votedAt: { $gte: month, $lte: now }, excludedAt: null } },
      { $sort: { votedAt: 1 } },
      {
        $group: {
          _id: '$usernameKey',
          username: { $last: '$username' },
          votes: { $sum: 1 },
          lastVotedAt: { $last: '$votedAt' },
        },
      },
      { $sort: { votes: -1, lastVotedAt: 1, _id: 1 } },
      { $limit: limit },
      { $project: { _id: 0 } },
    ])
    .toArray();
}
