import type { Collection, ObjectId, WithId } from 'mongodb';
import { playersHidden, playersSource, type Source, statusAt } from '../history/current-status.ts';
import type { Clock } from '../platform/clock.ts';
import type { Banner, Icon } from '../servers/profile.ts';
import type { Server, ServerStatus } from '../servers/server.ts';
import { FILTERED } from './filters.ts';
import { RANKED } from './ranking-pipeline.ts';
import type { Rating } from './sorts.ts';

export type Rows = { servers: Collection<Server>; clock: Clock };

/** A server in a row of the listing. */
export type ListedRow = {
  /** 24 hex digits. */
  id: string;
  name: string;
  slug: string;
  rank: number;
  game: string | null;
  countryCode: string | null;
  /** The current status; the list may be older. */
  status: ServerStatus;
  onlinePlayers: number;
  /** Whether the server hides its number of players, which is then 0; false while offline. */
  playersHidden: boolean;
  /** The source of the number of players: reports or probes. */
  source: Source;
  /** 0: no limit, or unknown. */
  maxPlayers: number;
  version: string;
  isPremium: boolean;
  /** The votes of 30 days; 0 before the first ranking of the server. */
  votesCount: number;
  /** What these votes weigh, which decided the rank. */
  rankVotes: number;
  listedAt: Date;
  /** The uptime of 30 days by our own checks, 0 to 100; null without any. */
  probedUptime: number | null;
  /** Only in the order by rating; null without reviews. */
  rating?: Rating | null;
  /** The owner's one sentence; empty if there is none. */
  shortText: string;
  /** Keys of the tag list. */
  tags: string[];
  /** The game server's own icon. */
  icon: Icon | undefined;
  banner: Banner | undefined;
  /** The average number of players on each of the last 7 days, oldest first; null where unknown. */
  players: (number | null)[];
};

const SHOWN = {
  name: 1,
  slug: 1,
  rankPosition: 1,
  isPremium: 1,
  'current.onlinePlayers': 1,
  'current.playersHidden': 1,
  'current.maxPlayers': 1,
  'current.playersSource': 1,
  'ranked.votesCount': 1,
  'ranked.rankVotes': 1,
  listedAt: 1,
  'daily.players': 1,
  'daily.probedUptime': 1,
  'profile.shortText': 1,
  'profile.icon': 1,
  'profile.banner': 1,
  ...FILTERED,
} as const;

/**
 * Reads servers in the given order, in one query. Servers that were hidden or removed since the list was written are left
 * out.
 */
export async function listedRows({ servers, clock }: Rows, ids: ObjectId[]): Promise<ListedRow[]> {
  if (ids.length === 0) return [];
  const now = clock.now();
  const found = await servers.find({ _id: { $in: ids }, ...RANKED }, { projection: SHOWN }).toArray();
  const byId = new Map(found.map((server) => [server._id.toHexString(), server]));
  return ids.flatMap((id) => {
    const server = byId.get(id.toHexString());
    return server ? [rowOf(server, now)] : [];
  });
}

function rowOf(server: WithId<Server>, now: Date): ListedRow {
  const {
    name,
    slug,
    rankPosition,
    game,
    countryCode,
    current,
    daily,
    isPremium,
    ranked,
    listedAt,
    profile,
  } = server;
  const status = statusAt(server, now);
  return {
    id: server._id.toHexString(),
    name,
    slug,
    rank: rankPosition,
    game: game ?? null,
    countryCode: countryCode ?? null,
    status,
    onlinePlayers: status === 'offline' ? 0 : current.onlinePlayers,
    playersHidden: status !== 'offline' && playersHidden(current),
    maxPlayers: current.maxPlayers,
    source: playersSource(server),
    version: current.version,
    isPremium,
    votesCount: ranked?.votesCount ?? 0,
    rankVotes: ranked?.rankVotes ?? ranked?.votesCount ?? 0,
    listedAt,
    probedUptime: daily.probedUptime ?? null,
    shortText: profile?.shortText ?? '',
    tags: profile?.tags ?? [],
    icon: profile?.icon,
    banner: profile?.banner,
    players: (daily.players as (number | null)[] | undefined) ?? [],
  };
}
