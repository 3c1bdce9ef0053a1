import type { Collection, Document, ObjectId } from 'mongodb';
import type { Batcher, BatchLoader } from '../../platform/batching/batcher.ts';
import { after, type Clock, HOUR } from '../../platform/clock.ts';
import type { Durability } from '../../platform/durability.ts';
import { MAJORITY } from '../../platform/mongo.ts';
import { usernameKey } from '../username.ts';
import { isImported, type Vote } from '../vote.ts';
import { insertedBy } from './insert-vote.ts';

/** The cooldown: a player may vote for a server once in any period of this length. */
export const COOLDOWN_MS = 24 * HOUR;

/** When the cooldown ends: from this moment on (inclusive) the player may vote for the server again. */
export function nextVoteAt(vote: Pick<Vote, 'votedAt'>): Date {
  return after(vote.votedAt, COOLDOWN_MS);
}

/** Whether the cooldown of `vote` still runs at `now`. */
function blocks(vote: Pick<Vote, 'votedAt' | 'cooldownEndedAt'>, now: Date): boolean {
  return !vote.cooldownEndedAt && now < nextVoteAt(vote);
}

/** The player's newest votes whose cooldown still runs at `now`; the one with the latest end is first. */
export function blockingVotes({ live, imported }: NewestVotes, now: Date): Vote[] {
  return [live, imported]
    .filter((vote) => vote !== null)
    .filter((vote) => blocks(vote, now))
    .toSorted((one, other) => other.votedAt.getTime() - one.votedAt.getTime());
}

/**
 * A player's newest votes for a server: the vote with the highest `seq` of each kind. Imported votes have negative
 * numbers, so the newest imported vote may be younger than the newest live vote.
 */
export type NewestVotes = { live: Vote | null; imported: Vote | null };

/** One player of one server. */
export type Player = Pick<Vote, 'serverId' | 'usernameKey'>;

type ReadDeps = { votes: Collection<Vote>; batcher: Batcher };

/** Reads a player's newest votes. Requests in flight share one database operation. */
export function readNewestVotes({ votes, batcher }: ReadDeps, player: Player): Promise<NewestVotes> {
  return batcher.load(newestVotesLoader, votes, player);
}

/** A player's newest votes, and which of these have a cooldown that still runs at `now`. */
export type Cooldown = { now: Date; newest: NewestVotes; blocking: Vote[] };

/** Reads a player's cooldown at `now`. The blocking votes may not be durable yet. */
export async function readCooldown(deps: ReadDeps, player: Player, now: Date): Promise<Cooldown> {
  const newest = await readNewestVotes(deps, player);
  return { now, newest, blocking: blockingVotes(newest, now) };
}

type VoteCheck =
  | { hasVoted: true; votedAt: Date; nextVoteAt: Date }
  | { hasVoted: false; votedAt: null; nextVoteAt: null };

/**
 * Whether a player voted for a server in the last 24 hours, under any spelling of the name. A reported vote is durable:
 * a failover does not lose it.
 */
export async function checkVote(
  deps: ReadDeps & { durability: Durability; clock: Clock },
  serverId: ObjectId,
  username: string,
): Promise<VoteCheck> {
  const player = { serverId, usernameKey: usernameKey(username) };
  const { blocking } = await readCooldown(deps, player, deps.clock.now());
  const [first] = blocking;
  if (!first) return { hasVoted: false, votedAt: null, nextVoteAt: null };
  await deps.durability.confirm(insertedBy(first));
  return { hasVoted: true, votedAt: first.votedAt, nextVoteAt: nextVoteAt(first) };
}

const NONE: NewestVotes = { live: null, imported: null };

/**
 * Reads a player's newest votes with majority read concern. If the player has no live vote: this takes one query;
 * otherwise two.
 */
async function newestVotesOf(
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
const newestVotesLoader: BatchLoader<Collection<Vote>, Player, NewestVotes> = {
  most: 200,
  async load(votes, players) {
    const [only] = players;
    if (only && players.length === 1) return [await newestVotesOf(votes, only.serverId, only.usernameKey)];
    const found = players.map(() => NONE);
    for (const { n, vote } of await readHighest(votes, players))
      found[n] = isImported(vote) ? { live: null, imported: vote } : { live: vote, imported: null };
    // If a player has a live vote: a newer imported vote may exist too, although its `seq` is lower.
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
 * Reads each player's vote with the highest `seq`: one step of the index for each player, however many votes the player
 * cast. A `$group` would read all these votes. The pipeline begins with any one vote of these servers, replaces it by
 * the list of players, and looks up each player's vote. An aggregation without that `$match` would query every shard.
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
