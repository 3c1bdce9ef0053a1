import type { Collection, Document, ObjectId } from 'mongodb';
import type { BatchLoader } from '../platform/batching/batcher.ts';
import { MAJORITY } from '../platform/mongo.ts';
import { isImported, type Vote } from './vote.ts';

/**
 * A player's newest votes for a server: the vote with the highest `seq` of each kind. Imported votes have negative
 * numbers, so the newest imported vote may be younger than the newest live vote.
 */
export type NewestVotes = { live: Vote | null; imported: Vote | null };

/** One player of one server. */
export type Player = Pick<Vote, 'serverId' | 'usernameKey'>;

const NONE: NewestVotes = { live: null, imported: null };

/** Read with majority read concern. One query when the newest vote is imported or there is none, else two. */
export async function newestVotes(
  votes: Collection<Vote>,
  serverId: ObjectId,
  usernameKey: string,
): Promise<NewestVotes> {
  const newest = { sort: { seq: -1 }, ...MAJORITY } as const;
  const highest = await votes.findOne({ serverId, usernameKey }, newest);
  if (!highest || isImported(highest)) return { live: null, imported: highest };
  return { live: highest, imported: await votes.findOne({ serverId, usernameKey, seq: { $lt: 0 } }, newest) };
}

/** The newest votes of many players, in one or two queries. */
export const newestVotesLoader: BatchLoader<Collection<Vote>, Player, NewestVotes> = {
  most: 200,
  async load(votes, players) {
    const [only] = players;
    if (only && players.length === 1) return [await newestVotes(votes, only.serverId, only.usernameKey)];
    const found = players.map(() => NONE);
    for (const { n, vote } of await readHighest(votes, players))
      found[n] = isImported(vote) ? { live: null, imported: vote } : { live: vote, imported: null };
    // A younger imported vote may exist as well.
    const withLive = [...found.keys()].filter((n) => found[n]?.live);
    const hidden = await readHighest(
      votes,
      withLive.map((n) => players[n] as Player),
      [{ $lt: ['$seq', 0] }],
    );
    for (const { n, vote } of hidden) {
      const index = withLive[n] as number;
      found[index] = { live: found[index]?.live ?? null, imported: vote };
    }
    return found;
  },
};

/**
 * Each player's vote with the highest `seq`. One index step for each player, however many votes the player cast; a
 * `$group` would read all votes. The pairs are joined to one vote of their servers, so that a sharded cluster queries
 * only those servers' shards. A server without a vote has no result.
 *
 * @returns the votes found, each with the index of its player in `players`
 */
async function readHighest(
  votes: Collection<Vote>,
  players: Player[],
  conditions: Document[] = [],
): Promise<{ n: number; vote: Vote }[]> {
  if (players.length === 0) return [];
  const wanted = players.map(({ serverId, usernameKey }, n) => ({ n, serverId, usernameKey }));
  const own = [{ $eq: ['$serverId', '$$serverId'] }, { $eq: ['$usernameKey', '$$usernameKey'] }];
  return votes
    .aggregate<{ n: number; vote: Vote }>(
      [
        { $match: { serverId: { $in: players.map(({ serverId }) => serverId) } } },
        { $limit: 1 },
        { $project: { _id: 0, wanted: { $literal: wanted } } },
        { $unwind: '$wanted' },
        {
          $lookup: {
            from: votes.collectionName,
            let: { serverId: '$wanted.serverId', usernameKey: '$wanted.usernameKey' },
            pipeline: [
              { $match: { $expr: { $and: [...own, ...conditions] } } },
              { $sort: { seq: -1 } },
              { $limit: 1 },
            ],
            as: 'vote',
          },
        },
        { $unwind: '$vote' },
        { $project: { n: '$wanted.n', vote: 1 } },
      ],
      MAJORITY,
    )
    .toArray();
}
