import type { Collection, ObjectId, WithId } from 'mongodb';
import { playersHidden, playersSource, type Source, statusAt } from '../history/current-status.ts';
import { after, DAY } from '../platform/clock.ts';
import type { ReviewList } from '../reviews/review.ts';
import type { Banner, Icon } from '../servers/profile.ts';
import type { Server, ServerStatus } from '../servers/server.ts';
import type { RankingDeps } from './deps.ts';
import { FILTERED } from './filters.ts';
import { RANKED } from './ranking-pipeline.ts';
import { type Rating, ratingOf } from './sorts.ts';

export const NEWCOMER_DAYS = 30;

export type ListedRow = {
  id: string;
  name: string;
  slug: string;
  address: string;
  port: number;
  rank: number;
  game: string | null;
  countryCode: string | null;
  /** The current one; the list that contains the row may be older. */
  status: ServerStatus;
  /** By a probe or a report; null if never. */
  lastSeenAt: Date | null;
  onlinePlayers: number;
  /** Then `onlinePlayers` is 0. False while the server is offline. */
  playersHidden: boolean;
  /** Of the number of players. */
  source: Source;
  /** 0: no limit, or unknown. */
  maxPlayers: number;
  version: string;
  isPremium: boolean;
  /** The votes of 30 days; 0 before the first ranking of the server. */
  votesCount: number;
  /** Decides the rank. */
  rankVotes: number;
  listedAt: Date;
  isNewcomer: boolean;
  /** Of 30 days by our own checks, 0 to 100; null without any. */
  probedUptime: number | null;
  rating: Rating | null;
  shortText: string;
  /** Keys of the tag list. */
  tags: string[];
  icon: Icon | undefined;
  banner: Banner | undefined;
  /** The average number of players on each of the last 7 days, oldest first; null if unknown. Empty until computed. */
  players: (number | null)[];
};

const SHOWN = {
  name: 1,
  slug: 1,
  address: 1,
  port: 1,
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

/** In the given order, by two queries by id. Leaves out servers that were hidden or removed meanwhile. */
export async function listedRows(
  { servers, reviewLists, clock }: RankingDeps,
  ids: ObjectId[],
): Promise<ListedRow[]> {
  if (ids.length === 0) return [];
  const now = clock.now();
  const [found, ratings] = await Promise.all([
    servers.find({ _id: { $in: ids }, ...RANKED }, { projection: SHOWN }).toArray(),
    ratingsOf(reviewLists, ids),
  ]);
  const byId = new Map(found.map((server) => [server._id.toHexString(), server]));
  return ids.flatMap((id) => {
    const server = byId.get(id.toHexString());
    return server ? [rowOf(server, ratings.get(id.toHexString()) ?? null, now)] : [];
  });
}

async function ratingsOf(
  reviewLists: Collection<ReviewList>,
  ids: ObjectId[],
): Promise<Map<string, Rating | null>> {
  const projection = { count: 1, ratingSum: 1 };
  const found = await reviewLists.find({ _id: { $in: ids } }, { projection }).toArray();
  return new Map(found.map((list) => [list._id.toHexString(), ratingOf(list)]));
}

function rowOf(server: WithId<Server>, rating: Rating | null, now: Date): ListedRow {
  const {
    name,
    slug,
    address,
    port,
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
    address,
    port,
    rank: rankPosition,
    game: game ?? null,
    countryCode: countryCode ?? null,
    status,
    lastSeenAt: lastSeenAt(server),
    onlinePlayers: status === 'offline' ? 0 : current.onlinePlayers,
    playersHidden: status !== 'offline' && playersHidden(current),
    maxPlayers: current.maxPlayers,
    source: playersSource(server),
    version: current.version,
    isPremium,
    votesCount: ranked?.votesCount ?? 0,
    rankVotes: ranked?.rankVotes ?? ranked?.votesCount ?? 0,
    listedAt,
    isNewcomer: listedAt > after(now, -NEWCOMER_DAYS * DAY),
    rating,
    probedUptime: daily.probedUptime ?? null,
    shortText: profile?.shortText ?? '',
    tags: profile?.tags ?? [],
    icon: profile?.icon,
    banner: profile?.banner,
    players: (daily.players as (number | null)[] | undefined) ?? [],
  };
}

function lastSeenAt({ probe, lastReport }: Pick<Server, 'probe' | 'lastReport'>): Date | null {
  const times = [probe?.succeededAt, lastReport?.at].filter((at) => at instanceof Date);
  return times.length > 0 ? new Date(Math.max(...times.map(Number))) : null;
}
