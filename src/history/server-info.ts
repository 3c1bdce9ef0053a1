import type { Collection, ObjectId, WithId } from 'mongodb';
import type { Batcher } from '../platform/batching/batcher.ts';
import type { Clock } from '../platform/clock.ts';
import { twoDecimals } from '../platform/two-decimals.ts';
import { pauseAt } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';
import { serverLoader } from '../servers/server-loader.ts';
import type { VoteCounter } from '../votes/vote-counter.ts';
import { countersLoader, figuresAt, type VoteFigures, voteFigures } from '../votes/vote-figures.ts';
import { latencyAt, playersHidden, playersSource, STATUS_FIELDS, statusAt } from './current-status.ts';

export type ServerInfo = ReturnType<typeof infoOf>;

const SHOWN = {
  name: 1,
  slug: 1,
  address: 1,
  port: 1,
  countryCode: 1,
  isPremium: 1,
  listedAt: 1,
  removedAt: 1,
  rankPosition: 1,
  'ranked.rankVotes': 1,
  current: 1,
  'daily.averagePlayers': 1,
  'daily.peakPlayers': 1,
  'daily.averageLatency': 1,
  'daily.uptimePercentage': 1,
  'probe.latencyMs': 1,
  ...STATUS_FIELDS,
} as const;

const shownServers = serverLoader(SHOWN);

type InfoDeps = { voteCounters: Collection<VoteCounter>; batcher: Batcher; clock: Clock };

/** Null when no server with this id is listed. */
export async function readServerInfo(deps: InfoDeps & { servers: Collection<Server> }, serverId: ObjectId) {
  const [server, votes] = await Promise.all([
    deps.batcher.load(shownServers, deps.servers, serverId),
    figuresOf(deps, serverId),
  ]);
  return server && !server.removedAt ? infoOf(server, votes, deps.clock.now()) : null;
}

/** For a server that the caller has already read. Makes one query. */
export async function serverInfo(
  { voteCounters, clock }: Pick<InfoDeps, 'voteCounters' | 'clock'>,
  server: WithId<Server>,
): Promise<ServerInfo> {
  return infoOf(server, await voteFigures({ voteCounters, clock }, server._id), clock.now());
}

async function figuresOf({ voteCounters, batcher, clock }: InfoDeps, serverId: ObjectId) {
  return figuresAt(clock.now(), await batcher.load(countersLoader, voteCounters, serverId));
}

/** The public data of a server. */
function infoOf(server: WithId<Server>, votes: VoteFigures, now: Date) {
  const { current, daily } = server;
  const status = statusAt(server, now);
  return {
    name: server.name,
    slug: server.slug,
    address: server.address,
    port: server.port,
    /** ISO 3166-1, or `ZZ` if it is not set. */
    countryCode: server.countryCode ?? 'ZZ',
    status,
    /** Null if the listing is not paused. */
    listingPause: pauseAt(server, now),
    onlinePlayers: status === 'offline' ? 0 : current.onlinePlayers,
    /** Then the number is 0; false while offline. */
    playersHidden: status !== 'offline' && playersHidden(current),
    maxPlayers: current.maxPlayers,
    playersSource: playersSource(server),
    /** Over 7 days. */
    averagePlayers: twoDecimals(daily.averagePlayers),
    peakPlayers: daily.peakPlayers,
    /** Null if it is unknown or the server is not online. */
    latencyMs: twoDecimals(latencyAt(server, now)),
    /** Over 30 days, in milliseconds; the uptime too, 0 to 100. */
    averageLatency: twoDecimals(daily.averageLatency),
    uptimePercentage: twoDecimals(daily.uptimePercentage),
    motd: current.motd,
    version: current.version,
    ...votes,
    /** The weight of `votesCount` in the last ranking, if it was less than their number. */
    rankVotes: server.ranked?.rankVotes ?? null,
    rankPosition: server.rankPosition,
    isPremium: server.isPremium,
    lastCheckedAt: current.checkedAt ?? null,
    listedAt: server.listedAt,
  };
}
