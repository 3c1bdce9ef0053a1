import type { ObjectId } from 'mongodb';
import type { VotesDeps } from '../deps.ts';

/** If `excludedAt` is present, this vote does not count. */
type FirstVote = { _id: string; votedAt: Date; excludedAt?: Date };

/**
 * The time of each name's first vote for a server, imported votes included. A name is missing if its first vote does
 * not count, for example because it is held. The query takes one index step for each name.
 */
export async function namesKnownSince(
  { votes }: VotesDeps,
  serverId: ObjectId,
  usernameKeys: string[],
): Promise<Map<string, Date>> {
  if (usernameKeys.length === 0) return new Map();
  const first = await votes
    .aggregate<FirstVote>([
      { $match: { serverId, usernameKey: { $in: usernameKeys } } },
      { $sort: { serverId: 1, usernameKey: 1, seq: 1 } },
      {
        $group: {
          _id: '$usernameKey',
          votedAt: { $first: '$votedAt' },
          excludedAt: { $first: '$excludedAt' },
        },
      },
    ])
    .toArray();
  return new Map(first.flatMap(({ _id, votedAt, excludedAt }) => (excludedAt ? [] : [[_id, votedAt]])));
}
