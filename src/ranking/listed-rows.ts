import type { ObjectId, WithId } from 'mongodb';
import { playersHidden, playersSource, statusAt } from '../history/current-status.ts';
import { after, DAY } from '../platform/clock.ts';
import { pauseAt } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';
import type { RankingDeps } from './deps.ts';
import { FILTERED } from './filters.ts';
import { RANKED } from './ranking-pipeline.ts';
import { type Rating, readRatings } from './sorts.ts';

export const NEWCOMER_DAYS = 30;

export type ListedRow = ReturnType<typeof rowOf>;

const SHOWN = {
  name: 1,
  slug: 1,
  address: 1,
  port: 1,
  'second.address': 1,
  'second.port': 1,
  rankPosition: 1,
  isPremium: 1,
  webVotes: 1,
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

/** In the given order, by two queries by id. Leaves out servers that were hidden or removed meanwhile. */
export async function listedRows({ servers, reviewLists, clock }: RankingDeps, ids: ObjectId[]) {
  if (ids.length === 0) return [];
  const now = clock.now();
  const [found, ratings] = await Promise.all([
    servers.find({ _id: { $in: ids }, ...RANKED }, { projection: SHOWN }).toArray(),
    readRatings(reviewLists, { _id: { $in: ids } }),
  ]);
  const byId = new Map(found.map((server) => [server._id.toHexString(), server]));
  return ids.flatMap((id) => {
    const server = byId.get(id.toHexString());
    return server ? [rowOf(server, ratings.get(id.toHexString()) ?? null, now)] : [];
  });
}

function rowOf(server: WithId<Server>, rating: Rating | null, now: Date) {
  const { current, daily, ranked, listedAt, profile } = server;
  const status = statusAt(server, now);
  return {
    id: server._id.toHexString(),
    name: server.name,
    slug: server.slug,
    address: server.address,
    port: server.port,
    second: server.second ?? null,
    rank: server.rankPosition,
    game: server.game ?? null,
    countryCode: server.countryCode ?? null,
    /** The current one; the list that contains the row may be older. */
    status,
    /** Null if the listing is not paused. */
    listingPause: pauseAt(server, now),
    lastSeenAt: lastSeenAt(server),
    onlinePlayers: status === 'offline' ? 0 : current.onlinePlayers,
    /** Then `onlinePlayers` is 0. False while the server is offline. */
    playersHidden: status !== 'offline' && playersHidden(current),
    /** 0: no limit, or unknown. */
    maxPlayers: current.maxPlayers,
    /** The source of the number of players. */
    source: playersSource(server),
    version: current.version,
    isPremium: server.isPremium,
    webVotes: server.webVotes ?? null,
    /** The votes of 30 days; 0 before the first ranking of the server. */
    votesCount: ranked?.votesCount ?? 0,
    /** What these votes weigh, which decides the rank. */
    rankVotes: ranked?.rankVotes ?? ranked?.votesCount ?? 0,
    listedAt,
    isNewcomer: listedAt > after(now, -NEWCOMER_DAYS * DAY),
    rating,
    /** The uptime of 30 days by our own checks, 0 to 100; null without any. */
    probedUptime: daily.probedUptime ?? null,
    shortText: profile?.shortText ?? '',
    tags: profile?.tags ?? [],
    icon: profile?.icon,
    banner: profile?.banner,
    /** The average number of players on each of the last 7 days, oldest first; null if unknown. Empty until computed. */
    players: (daily.players as (number | null)[] | undefined) ?? [],
  };
}

/** By a probe or a report; null if never. */
function lastSeenAt({ probe, lastReport }: Pick<Server, 'probe' | 'lastReport'>): Date | null {
  const times = [probe?.succeededAt, lastReport?.at].filter((at) => at instanceof Date);
  return times.length > 0 ? new Date(Math.max(...times.map(Number))) : null;
}
