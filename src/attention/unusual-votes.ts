import type { Collection, ObjectId } from 'mongodb';
import { after, type Clock, DAY } from '../clock.ts';
import { addDays, dayOf } from '../periods/period-marks.ts';
import type { Server } from '../servers/server.ts';
import type { Vote } from '../votes/vote.ts';
import type { VoteCounter } from '../votes/vote-counter.ts';

type Finding = {
  servers: Collection<Server>;
  votes: Collection<Vote>;
  voteCounters: Collection<VoteCounter>;
  clock: Clock;
};

/** So many votes of one token in 24 h are never remarked. */
const ALWAYS_ALLOWED = 50;
/** Nor are ten for each player of the server's peak, which counts as at least this many. */
const VOTES_A_PLAYER = 10;
const FEWEST_PLAYERS = 5;

/** Whether one token's votes of 24 h are far more than a server with such a peak of players would have. */
export function isUnusual(votes: number, peakPlayers: number): boolean {
  return votes > Math.max(ALWAYS_ALLOWED, VOTES_A_PLAYER * Math.max(peakPlayers, FEWEST_PLAYERS));
}

type Suspect = { serverId: ObjectId; players: number };

/**
 * Looks over all servers for a token that cast far more votes in the last 24 h than its server has players, and
 * notes it on the server; what is usual again is forgotten. The counters of today and yesterday say where to look,
 * so the votes of few servers are read. Excluded votes do not count. Doing it again changes nothing.
 *
 * @returns how many were found
 * @throws the signal's reason
 */
export async function findUnusualVotes(
  deps: Finding,
  { signal }: { signal?: AbortSignal } = {},
): Promise<{ found: number }> {
  const { servers, clock } = deps;
  const now = clock.now();
  const found: ObjectId[] = [];
  for (const { serverId, players } of await suspects(deps, now)) {
    signal?.throwIfAborted();
    const busiest = await busiestToken(deps, serverId, now);
    if (!busiest || !isUnusual(busiest.votes, players)) continue;
    const unusualVotes = { at: now, ...busiest, players };
    await servers.updateOne({ _id: serverId }, { $set: { unusualVotes } });
    found.push(serverId);
  }
  await servers.updateMany(
    { 'unusualVotes.votes': { $exists: true }, _id: { $nin: found } },
    { $unset: { unusualVotes: 1 } },
  );
  return { found: found.length };
}

/** The listed servers with more votes, of all tokens, today and yesterday together, than one token may cast. */
async function suspects({ servers, voteCounters }: Finding, now: Date): Promise<Suspect[]> {
  const days = [dayOf(now), addDays(dayOf(now), -1)];
  const votesOf = days.map((day) => ({
    $cond: [{ $eq: ['$month', day.slice(0, 7)] }, { $ifNull: [`$days.${day.slice(8)}`, 0] }, 0],
  }));
  const busy = voteCounters.aggregate<{ _id: ObjectId; votes: number }>([
    { $match: { month: { $in: [...new Set(days.map((day) => day.slice(0, 7)))] } } },
    { $group: { _id: '$serverId', votes: { $sum: { $add: votesOf } } } },
    { $match: { votes: { $gt: ALWAYS_ALLOWED } } },
  ]);
  const counts = new Map<string, number>();
  const ids: ObjectId[] = [];
  for await (const { _id, votes } of busy) {
    counts.set(_id.toHexString(), votes);
    ids.push(_id);
  }
  const listed = servers.find(
    { _id: { $in: ids }, removedAt: null },
    { projection: { 'daily.peakPlayers': 1, 'current.onlinePlayers': 1 } },
  );
  const all: Suspect[] = [];
  for await (const { _id, daily, current } of listed) {
    const players = Math.max(daily.peakPlayers, current.onlinePlayers);
    if (isUnusual(counts.get(_id.toHexString()) ?? 0, players)) all.push({ serverId: _id, players });
  }
  return all;
}

/** The token with the most votes of the last 24 h; null where none was cast here. */
async function busiestToken(
  { votes }: Finding,
  serverId: ObjectId,
  now: Date,
): Promise<{ tokenId: ObjectId; votes: number } | null> {
  const [busiest] = await votes
    .aggregate<{ _id: ObjectId; votes: number }>([
      { $match: { serverId, votedAt: { $gt: after(now, -DAY) }, tokenId: { $ne: null }, excludedAt: null } },
      { $group: { _id: '$tokenId', votes: { $sum: 1 } } },
      { $sort: { votes: -1, _id: 1 } },
      { $limit: 1 },
    ])
    .toArray();
  return busiest ? { tokenId: busiest._id, votes: busiest.votes } : null;
}
