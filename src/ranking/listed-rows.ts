import type { Collection, ObjectId, WithId } from 'mongodb';
import { playersSource, type Source, statusAt } from '../history/current-status.ts';
import type { Clock } from '../platform/clock.ts';
import type { Icon } from '../servers/profile.ts';
import type { Server, ServerStatus } from '../servers/server.ts';
import { FILTERED } from './filters.ts';
import { RANKED } from './ranking-pipeline.ts';

export type Rows = { servers: Collection<Server>; clock: Clock };

/** A server in a row of the listing. */
export type ListedRow = {
  name: string;
  slug: string;
  place: number;
  game: string | null;
  countryCode: string | null;
  /** The current status; the list may be older. */
  status: ServerStatus;
  onlinePlayers: number;
  /** The source of the number of players: reports or probes. */
  source: Source;
  /** 0: no limit, or unknown. */
  maxPlayers: number;
  version: string;
  isPremium: boolean;
  /** The owner's one sentence; empty if there is none. */
  shortText: string;
  /** Keys of the tag list. */
  tags: string[];
  /** The game server's own icon. */
  icon: Icon | undefined;
  /** Votes of the current UTC month. */
  monthlyVotes: number;
  /** The average number of players on each of the last 7 days, oldest first; null where unknown. */
  players: (number | null)[];
};

type Read = WithId<Server> & { votes: number };

const SHOWN = {
  name: 1,
  slug: 1,
  rankPosition: 1,
  isPremium: 1,
  'current.onlinePlayers': 1,
  'current.maxPlayers': 1,
  'current.playersSource': 1,
  'daily.players': 1,
  'profile.shortText': 1,
  'profile.tags': 1,
  'profile.icon': 1,
  ...FILTERED,
} as const;

/**
 * Reads servers with their votes of the month in the given order, in one query. Servers that were hidden or removed since
 * the list was written are left out.
 */
export async function listedRows({ servers, clock }: Rows, ids: ObjectId[]): Promise<ListedRow[]> {
  if (ids.length === 0) return [];
  const now = clock.now();
  const found = await servers
    .aggregate<Read>([
      { $match: { _id: { $in: ids }, ...RANKED } },
      { $project: SHOWN },
      {
        $lookup: {
          from: 'vote_counters',
          localField: '_id',
          foreignField: 'serverId',
          pipeline: [{ $match: { month: now.toISOString().slice(0, 7) } }],
          as: 'counters',
        },
      },
      {
        $set: {
          votes: {
            $sum: { $map: { input: { $objectToArray: { $first: '$counters.days' } }, in: '$$this.v' } },
          },
          counters: '$$REMOVE',
        },
      },
    ])
    .toArray();
  const byId = new Map(found.map((server) => [server._id.toHexString(), server]));
  return ids.flatMap((id) => {
    const server = byId.get(id.toHexString());
    return server ? [rowOf(server, now)] : [];
  });
}

function rowOf(server: Read, now: Date): ListedRow {
  const { name, slug, rankPosition, game, countryCode, current, daily, isPremium, profile, votes } = server;
  const status = statusAt(server, now);
  return {
    name,
    slug,
    place: rankPosition,
    game: game ?? null,
    countryCode: countryCode ?? null,
    status,
    onlinePlayers: status === 'offline' ? 0 : current.onlinePlayers,
    maxPlayers: current.maxPlayers,
    source: playersSource(server),
    version: current.version,
    isPremium,
    shortText: profile?.shortText ?? '',
    tags: profile?.tags ?? [],
    icon: profile?.icon,
    monthlyVotes: votes,
    players: (daily.players as (number | null)[] | undefined) ?? [],
  };
}
