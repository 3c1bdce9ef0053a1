import type { Collection, Document, ObjectId } from 'mongodb';
import type { Batcher, BatchLoader } from '../../platform/batching/batcher.ts';
import { aggregateFew, findFirst } from '../../platform/batching/find-few.ts';
import { after, type Clock, HOUR } from '../../platform/clock.ts';
import type { Durability } from '../../platform/durability.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import { MAJORITY } from '../../platform/mongo.ts';
import { usernameKey } from '../username.ts';
import { isImported, type Vote } from '../vote.ts';
import type { ImportedCooldowns } from './imported-cooldowns.ts';
import { insertedBy } from './insert-vote.ts';

/** Between two votes of a player for a server. */
export const COOLDOWN_MS = defineLimit({
  key: 'vote',
  what: 'Votes',
  of: 'player and server',
  times: 1,
  windowMs: 24 * HOUR,
  beyond: '429 `cooldown`',
}).windowMs;
export const COOLDOWN_HOURS = COOLDOWN_MS / HOUR;

/** Inclusive. */
export function nextVoteAt(vote: Pick<Vote, 'votedAt'>): Date {
  return after(vote.votedAt, COOLDOWN_MS);
}

function blocks(vote: Pick<Vote, 'votedAt' | 'cooldownEndedAt'>, now: Date): boolean {
  return !vote.cooldownEndedAt && now < nextVoteAt(vote);
}

/** Whose cooldown still runs at `now`; the latest end is first. */
export function blockingVotes({ live, imported }: NewestVotes, now: Date): Vote[] {
  return [live, imported]
    .filter((vote) => vote !== null)
    .filter((vote) => blocks(vote, now))
    .toSorted((one, other) => other.votedAt.getTime() - one.votedAt.getTime());
}

/** By `seq`. Imported votes have negative numbers: one may be younger than the live one. */
export type NewestVotes = { live: Vote | null; imported: Vote | null };

export type Player = Pick<Vote, 'serverId' | 'usernameKey'>;

type ReadDeps = { votes: Collection<Vote>; batcher: Batcher };
type CooldownDeps = ReadDeps & { importedCooldowns: ImportedCooldowns };

/** Requests in flight share one database operation, or two. */
export function readNewestVotes({ votes, batcher }: ReadDeps, player: Player): Promise<NewestVotes> {
  return batcher.load(newestVotesLoader, votes, { ...player, readsImported: true });
}

/** `blocking`: see `blockingVotes`. */
export type Cooldown = { now: Date; newest: NewestVotes; blocking: Vote[] };

/** The blocking votes may not be durable yet. An imported vote that cannot block may be left out. */
export async function readCooldown(deps: CooldownDeps, player: Player, now: Date): Promise<Cooldown> {
  const readsImported = deps.importedCooldowns.mayBlock(now);
  const newest = await deps.batcher.load(newestVotesLoader, deps.votes, { ...player, readsImported });
  return { now, newest, blocking: blockingVotes(newest, now) };
}

type VoteCheck =
  | { hasVoted: true; votedAt: Date; nextVoteAt: Date }
  | { hasVoted: false; votedAt: null; nextVoteAt: null };

/** Under any spelling of the name. A reported vote is durable: neither a failover nor a crash of mongod loses it. */
export async function checkVote(
  deps: CooldownDeps & { durability: Durability; clock: Clock },
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

/** `readsImported`: the newest imported vote is read although there is a live one. */
type Asked = Player & { readsImported: boolean };

/** One query, or two with a live vote and `readsImported`. */
async function newestVotesOf(
  votes: Collection<Vote>,
  { serverId, usernameKey, readsImported }: Asked,
): Promise<NewestVotes> {
  const newest = { sort: { seq: -1 }, ...MAJORITY } as const;
  const highest = await findFirst(votes, { serverId, usernameKey }, newest);
  if (!highest || isImported(highest)) return { live: null, imported: highest };
  if (!readsImported) return { live: highest, imported: null };
  return {
    live: highest,
    imported: await findFirst(votes, { serverId, usernameKey, seq: { $lt: 0 } }, newest),
  };
}

/** Reads the newest votes of many players in one or two queries. */
const newestVotesLoader: BatchLoader<Collection<Vote>, Asked, NewestVotes> = {
  most: 200,
  async load(votes, players) {
    const [only] = players;
    if (only && players.length === 1) return [await newestVotesOf(votes, only)];
    const found = players.map(() => NONE);
    for (const { n, vote } of await readHighest(votes, players))
      found[n] = isImported(vote) ? { live: null, imported: vote } : { live: vote, imported: null };
    // Imported votes have a lower `seq`: behind a live vote, a second query finds them.
    const withLive = [...found.keys()].filter((n) => found[n]?.live && players[n]?.readsImported);
    const hidden = await readHighest(
      votes,
      withLive.map((n) => players[n] as Asked),
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
 * Each player's vote with the highest `seq`, by one index step each; a `$group` would read all votes. The pipeline
 * replaces any one vote by the list of players, and looks up their votes. Without the first `$match`, a sharded cluster
 * would query every shard. `n`: the index in `players`.
 */
async function readHighest(
  votes: Collection<Vote>,
  players: Player[],
  conditions: Document[] = [],
): Promise<{ n: number; vote: Vote }[]> {
  if (players.length === 0) return [];
  const wanted = players.map(({ serverId, usernameKey }, n) => ({ n, serverId, usernameKey }));
  const own = [{ $eq: ['$serverId', '$$serverId'] }, { $eq: ['$usernameKey', '$$usernameKey'] }];
  return aggregateFew(
    votes,
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
  );
}
