import type { Collection, WithId } from 'mongodb';
import { type Clock, MINUTE } from '../clock.ts';
import type { CurrentFigures, Server } from '../servers/server.ts';
import type { VoteCounter } from '../votes/vote-counter.ts';
import { voteFigures } from '../votes/vote-figures.ts';

/** A report stands for this long at most (design, "Periods and figures"). */
const REPORT_STANDS_MS = 15 * MINUTE;

/** What the public may know of a server. Strings and counts are never null. */
export type ServerInfo = {
  name: string;
  slug: string;
  address: string;
  port: number;
  /** ISO 3166, or `ZZ` while nobody said. */
  countryCode: string;
  status: CurrentFigures['status'];
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
  const status = statusAt(server, clock.now());
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
    latencyMs: status === 'online' ? twoDecimalsOrNull(current.latencyMs) : null,
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

/** What is known of a server fades: without a report for 15 minutes its status is unknown. */
function statusAt(
  { current, lastReport }: Pick<Server, 'current' | 'lastReport'>,
  now: Date,
): ServerInfo['status'] {
  if (!lastReport || now.getTime() - lastReport.at.getTime() >= REPORT_STANDS_MS) return 'unknown';
  return current.status;
}

function twoDecimals(value: number): number {
  return Math.round(value * 100) / 100;
}

function twoDecimalsOrNull(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : twoDecimals(value);
}
