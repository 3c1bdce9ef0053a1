import type { ObjectId } from 'mongodb';
import { after, HOUR } from '../platform/clock.ts';
import { addDays, dayOf } from '../platform/periods/period-marks.ts';
import { CURRENT_PLAYERS, playersSeen } from '../ranking/evidence/players-seen.ts';
import { countedPlayers } from '../ranking/evidence/weigh-day.ts';
import type { Server } from '../servers/server.ts';
import { MOST_REPORTED_PLAYERS } from '../votes/web/suspicion.ts';
import type { ModerationDeps } from './deps.ts';

export const UNUSUAL_HOURS = 24;

/** Up to this many votes of a server in 24 h are not unusual. */
const ALWAYS_ALLOWED = 50;
/** Nor are this many for each player. A server counts as one with at least `FEWEST_PLAYERS`. */
const VOTES_A_PLAYER = 10;
const FEWEST_PLAYERS = 5;

export function isUnusual(votes: number, players: number): boolean {
  return votes > Math.max(ALWAYS_ALLOWED, VOTES_A_PLAYER * Math.max(players, FEWEST_PLAYERS));
}

const SLICE = 200;

type Busy = { _id: ObjectId; votes: number };
type Suspect = { serverId: ObjectId; players: number };

/**
 * The votes of all tokens and of the vote form are summed, so that several tokens hide nothing.
 *
 * @throws the signal's reason when it is aborted
 */
export async function findUnusualVotes(
  deps: ModerationDeps,
  { signal }: { signal?: AbortSignal } = {},
): Promise<{ found: number }> {
  const { servers, clock } = deps;
  const now = clock.now();
  const found: ObjectId[] = [];
  for await (const { serverId, players } of suspects(deps, now)) {
    signal?.throwIfAborted();
    const counted = await votesOfDay(deps, serverId, now);
    if (!isUnusual(counted.votes, players)) continue;
    const unusualVotes = { at: now, ...counted, players };
    await servers.updateOne({ _id: serverId }, { $set: { unusualVotes } });
    found.push(serverId);
  }
  await servers.updateMany(
    { 'unusualVotes.votes': { $exists: true }, _id: { $nin: found } },
    { $unset: { unusualVotes: 1 } },
  );
  return { found: found.length };
}

/** Votes are read only for these: the counters of today and yesterday together would be unusual for one day. */
async function* suspects(deps: ModerationDeps, now: Date): AsyncGenerator<Suspect> {
  const days = [dayOf(now), addDays(dayOf(now), -1)];
  const votesOf = days.map((day) => ({
    $cond: [{ $eq: ['$month', day.slice(0, 7)] }, { $ifNull: [`$days.${day.slice(8)}`, 0] }, 0],
  }));
  const busy = await deps.voteCounters
    .aggregate<Busy>([
      { $match: { month: { $in: [...new Set(days.map((day) => day.slice(0, 7)))] } } },
      { $group: { _id: '$serverId', votes: { $sum: { $add: votesOf } } } },
      { $match: { votes: { $gt: ALWAYS_ALLOWED } } },
    ])
    .toArray();
  for (let at = 0; at < busy.length; at += SLICE) {
    yield* await suspectsOf(deps, busy.slice(at, at + SLICE), now);
  }
}

async function suspectsOf(deps: ModerationDeps, busy: Busy[], now: Date): Promise<Suspect[]> {
  const votesOf = new Map(busy.map(({ _id, votes }) => [_id.toHexString(), votes]));
  const listed = await deps.servers
    .find(
      { _id: { $in: busy.map(({ _id }) => _id) }, removedAt: null },
      { projection: { ...CURRENT_PLAYERS, 'daily.peakPlayers': 1 } },
    )
    .toArray();
  const seen = await playersSeen(deps, listed, dayOf(now), now);
  return listed.flatMap(({ _id, daily, current, lastReport }) => {
    const id = _id.toHexString();
    const probed = seen.get(id);
    const reported = lastReport ? Math.max(daily.peakPlayers, current.onlinePlayers) : 0;
    const players = Math.max(
      probed ? countedPlayers(probed) : 0,
      // A server may report any number.
      Math.min(reported, MOST_REPORTED_PLAYERS),
    );
    return isUnusual(votesOf.get(id) ?? 0, players) ? [{ serverId: _id, players }] : [];
  });
}

type Counted = Omit<NonNullable<Server['unusualVotes']>, 'at' | 'players'>;

async function votesOfDay({ votes }: ModerationDeps, serverId: ObjectId, now: Date): Promise<Counted> {
  const groups = await votes
    .aggregate<{ _id: ObjectId | null; votes: number }>([
      {
        $match: {
          serverId,
          votedAt: { $gt: after(now, -UNUSUAL_HOURS * HOUR) },
          seq: { $gt: 0 },
          excludedAt: null,
        },
      },
      { $group: { _id: '$tokenId', votes: { $sum: 1 } } },
      { $sort: { votes: -1, _id: 1 } },
    ])
    .toArray();
  const [busiest] = groups.filter(({ _id }) => _id !== null);
  return {
    votes: groups.reduce((sum, group) => sum + group.votes, 0),
    web: groups.find(({ _id }) => _id === null)?.votes ?? 0,
    ...(busiest?._id ? { tokenId: busiest._id, ofToken: busiest.votes } : {}),
  };
}
