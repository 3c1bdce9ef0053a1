import { ObjectId, type WithId } from 'mongodb';
import { playersHidden, statusAt } from '../history/current-status.ts';
import { ADDRESS_FIELDS, addressesOf } from '../history/server-addresses.ts';
import type { Batcher, BatchLoader } from '../platform/batching/batcher.ts';
import { anyOf } from '../platform/batching/find-loader.ts';
import { twoDecimals } from '../platform/two-decimals.ts';
import { findServer } from '../servers/listed-servers.ts';
import { pauseAt } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';
import { isId } from '../servers/slug.ts';
import { RANKING_DAYS } from '../votes/ranking-period.ts';
import { sum } from '../votes/vote-counts.ts';
import { votesByDayOfAll } from '../votes/vote-figures.ts';
import type { RankingDeps } from './deps.ts';
import { FILTERED } from './filters.ts';
import { RANKED } from './ranking-pipeline.ts';
import { type Rating, readRatings } from './sorts.ts';

/** What everybody may know of a listed server; nothing that only its owner sees. */
export type PublicServer = ReturnType<typeof publicServerOf>;

const SHOWN = {
  name: 1,
  slug: 1,
  rankPosition: 1,
  listedAt: 1,
  'current.maxPlayers': 1,
  'daily.uptimePercentage': 1,
  'profile.languages': 1,
  'profile.icon.picture': 1,
  'profile.banner.wide': 1,
  ...FILTERED,
  ...ADDRESS_FIELDS,
} as const;

/** As many days as the longest month has, so that they contain those of the ranking too. */
const DAYS = 31;

/**
 * In the given order, by three queries by id. Leaves out servers that were hidden or removed meanwhile, those that
 * `isWanted` refuses, and the ones after `most`.
 */
export async function readPublicServers(
  deps: RankingDeps,
  ids: ObjectId[],
  isWanted: (server: WithId<Server>) => boolean = () => true,
  most = Number.POSITIVE_INFINITY,
): Promise<PublicServer[]> {
  if (ids.length === 0) return [];
  const found = await deps.servers.find({ _id: { $in: ids }, ...RANKED }, { projection: SHOWN }).toArray();
  const byId = new Map(found.map((server) => [server._id.toHexString(), server]));
  const wanted = ids.flatMap((id) => byId.get(id.toHexString()) ?? []).filter(isWanted);
  return publicServersOf(deps, wanted.slice(0, most));
}

async function publicServersOf(deps: RankingDeps, servers: WithId<Server>[]): Promise<PublicServer[]> {
  if (servers.length === 0) return [];
  const ids = servers.map(({ _id }) => _id);
  const [ratings, votesOf] = await Promise.all([
    readRatings(deps.reviewLists, { _id: { $in: ids } }),
    votesByDayOfAll(deps, ids, DAYS),
  ]);
  const now = deps.clock.now();
  return servers.map((server) =>
    publicServerOf(server, {
      rating: ratings.get(server._id.toHexString()) ?? null,
      votes: votesOf(server._id),
      now,
    }),
  );
}

type Figures = { rating: Rating | null; votes: { day: string; votes: number }[]; now: Date };

function publicServerOf(server: WithId<Server>, { rating, votes, now }: Figures) {
  const { current, daily, profile } = server;
  const status = statusAt(server, now);
  const isHidden = status !== 'offline' && playersHidden(current);
  const isUnknown = isHidden || pauseAt(server, now) !== null;
  const month = now.toISOString().slice(0, 7);
  const votesIn = (days: Figures['votes']) => sum(days.map((one) => one.votes));
  return {
    id: server._id.toHexString(),
    slug: server.slug,
    name: server.name,
    /** The id in gamedig; null if none was chosen. */
    game: server.game ?? null,
    address: server.address,
    port: server.port,
    addresses: addressesOf(server, now),
    countryCode: server.countryCode ?? 'ZZ',
    languages: profile?.languages ?? [],
    tags: profile?.tags ?? [],
    status,
    /** Null while the server hides the number, or the listing is paused. */
    onlinePlayers: isUnknown ? null : status === 'offline' ? 0 : current.onlinePlayers,
    /** 0: no limit, or unknown. */
    maxPlayers: current.maxPlayers,
    monthlyVotes: votesIn(votes.filter(({ day }) => day.startsWith(month))),
    votesCount: votesIn(votes.slice(-RANKING_DAYS)),
    rankPosition: server.rankPosition,
    averageRating: rating?.average ?? 0,
    reviewCount: rating?.reviews ?? 0,
    /** Over 30 days, 0 to 100, at most two decimals; null if unknown. */
    uptimePercentage: twoDecimals(daily.uptimePercentage),
    version: current.version,
    /** The ids of pictures. */
    icon: profile?.icon?.picture ?? null,
    banner: profile?.banner?.wide ?? null,
    listedAt: server.listedAt,
  };
}

export type PublicServerInFull = PublicServer & { description: string; motd: string };

/** By ids and present slugs. Requests that are in flight together share three queries. */
const serversInFull: BatchLoader<RankingDeps, string, PublicServerInFull | null> = {
  most: 50,
  async load(deps, names) {
    const wanted = [...new Set(names)];
    const ids = wanted.filter(isId).map((id) => new ObjectId(id));
    const slugs = wanted.filter((name) => !isId(name));
    const either = [
      ...(ids.length > 0 ? [{ _id: anyOf(ids) }] : []),
      ...(slugs.length > 0 ? [{ slug: anyOf(slugs) }] : []),
    ];
    const projection = { ...SHOWN, 'profile.description': 1, 'current.motd': 1 } as const;
    const found = await deps.servers.find({ $or: either, ...RANKED }, { projection }).toArray();
    const shown = await publicServersOf(deps, found);
    const byName = new Map<string, PublicServerInFull>();
    for (const [place, { profile, current }] of found.entries()) {
      const server = shown[place];
      if (!server) continue;
      const inFull = { ...server, description: profile?.description ?? '', motd: current.motd };
      byName.set(inFull.id, inFull).set(inFull.slug, inFull);
    }
    return names.map((name) => byName.get(name) ?? null);
  },
};

/** By id, or by a current or earlier slug. Null for unknown, hidden and removed servers alike. */
export async function readPublicServer(
  deps: RankingDeps & { batcher: Batcher },
  idOrSlug: string,
): Promise<PublicServerInFull | null> {
  if (!NAMED.test(idOrSlug)) return null;
  const { batcher } = deps;
  const found = await batcher.load(serversInFull, deps, idOrSlug);
  if (found || isId(idOrSlug)) return found;
  const renamed = await findListed(deps, idOrSlug);
  return renamed && batcher.load(serversInFull, deps, renamed._id.toHexString());
}

/** Slugs are shorter, and ids too. */
const NAMED = /^[a-z0-9-]{1,100}$/;

/** The listed server itself, as `readPublicServer`. An id is in lower case. */
export async function findListed(deps: RankingDeps, idOrSlug: string): Promise<WithId<Server> | null> {
  if (!NAMED.test(idOrSlug)) return null;
  const server = await findServer(deps, idOrSlug);
  return server && !server.hiddenAt ? server : null;
}
