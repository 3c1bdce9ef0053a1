import type { ObjectId } from 'mongodb';
import type { VotesDeps } from '../deps.ts';

/** The first vote of a name; with `excludedAt` it does not count. */
type FirstVote = { _id: string; votedAt: Date; excludedAt?: Date };

/** Imported votes included; without names whose first vote does not count. One index step for each name. */
export async function namesKnownSince({ votes }: VotesDeps, serverId: ObjectId, usernameKeys: string[]) {
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
