import type { Collection, Document, ObjectId } from 'mongodb';
import type { BatchLoader } from '../platform/batching/batcher.ts';
import { MAJORITY } from '../platform/mongo.ts';
import { isImported, type Vote } from './vote.ts';

/**
 * A player's newest votes for a server, each the one with the highest `seq` of its kind. Imported votes have
 * negative numbers, so the newest one of them may be younger than the newest live vote.
 */
export type NewestVotes = { live: Vote | null; imported: Vote | null };

/** One player of one server. */
export type Player = Pick<Vote, 'serverId' | 'usernameKey'>;

const NONE: NewestVotes = { live: null, imported: null };

/** Read at majority. A first vote, or one after imported ones only, takes one reading. */
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

/** The newest votes of many players in one reading, or two. */
export const newestVotesTogether: BatchLoader<Collection<Vote>, Player, NewestVotes> = {
  most: 200,
  async load(votes, players) {
    const [only] = players;
    if (only && players.length === 1) return [await newestVotes(votes, only.serverId, only.usernameKey)];
    const found = players.map(() => NONE);
    for (const { n, vote } of await readHighest(votes, players))
      found[n] = isImported(vote) ? { live: null, imported: vote } : { live: vote, imported: null };
    // Behind a live vote an imported one may hide.
    const behind = [...found.keys()].filter((n) => found[n]?.live);
    const hidden = await readHighest(
      votes,
      behind.map((n) => players[n] as Player),
      [{ $lt: ['$seq', 0] }],
    );
    for (const { n, vote } of hidden) {
      const at = behind[n] as number;
      found[at] = { live: found[at]?.live ?? null, imported: vote };
    }
    return found;
  },
};

/**
 * Each player's vote with the highest `seq`: one step into the index for each, however many votes the player cast. A
 * `$group` would read them all. The pairs ride on any one vote of their servers, so that a sharded cluster asks
 * those servers' shards alone; where there is none, none of them has a vote.
 *
 * @returns the votes found, each with its player's place in `players`
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
