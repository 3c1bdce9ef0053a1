import type { Collection, WithId } from 'mongodb';
import type { Clock } from '../clock.ts';
import type { Server, ServerStatus } from '../servers/server.ts';
import type { VoteCounter } from '../votes/vote-counter.ts';
import { voteFigures } from '../votes/vote-figures.ts';
import { latencyAt, statusAt } from './current-status.ts';

/** What the public may know of a server. Strings and counts are never null. */
export type ServerInfo = {
  name: string;
  slug: string;
  address: string;
  port: number;
  /** ISO 3166, or `ZZ` while nobody said. */
  countryCode: string;
  status: ServerStatus;
  onlinePlayers: number;
  maxPlayers: number;
  /** Over 7 days; at most 2 decimals. */
  averagePlayers: number;
  peakPlayers: number;
  /** Milliseconds, at most 2 decimals; null until known and while not online. */
  latencyMs: number | null;
  /** Over 30 days. */
  averageLatency: number | null;
  /** Over 30 days, 0 to 100. */
  uptimePercentage: number | null;
  motd: string;
  version: string;
  /** Votes of today and the 29 UTC days before. */
  votesCount: number;
  monthlyVotes: number;
  allTimeVotes: number;
  rankPosition: number;
  isPremium: boolean;
  lastCheckedAt: Date | null;
  listedAt: Date;
};

/**
 * A server as the public sees it at this moment. One query: the server's document comes from the caller.
 */
export async function serverInfo(
  { voteCounters, clock }: { voteCounters: Collection<VoteCounter>; clock: Clock },
  server: WithId<Server>,
): Promise<ServerInfo> {
  const { current, daily } = server;
  const now = clock.now();
  const status = statusAt(server, now);
  const votes = await voteFigures({ voteCounters, clock }, server._id);
  return {
    name: server.name,
    slug: server.slug,
    address: server.address,
    port: server.port,
    countryCode: server.countryCode ?? 'ZZ',
    status,
    onlinePlayers: status === 'offline' ? 0 : current.onlinePlayers,
    maxPlayers: current.maxPlayers,
    averagePlayers: twoDecimals(daily.averagePlayers),
    peakPlayers: daily.peakPlayers,
    latencyMs: twoDecimalsOrNull(latencyAt(server, now)),
    averageLatency: twoDecimalsOrNull(daily.averageLatency),
    uptimePercentage: twoDecimalsOrNull(daily.uptimePercentage),
    motd: current.motd,
    version: current.version,
    ...votes,
    rankPosition: server.rankPosition,
    isPremium: server.isPremium,
    lastCheckedAt: current.checkedAt ?? null,
    listedAt: server.listedAt,
  };
}

function twoDecimals(value: number): number {
  return Math.round(value * 100) / 100;
}

function twoDecimalsOrNull(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : twoDecimals(value);
}
