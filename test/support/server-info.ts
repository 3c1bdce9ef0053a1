import type { ServerInfo } from '../../src/history/server-info.ts';

/** What pages and images show of a server; it is online with no players. */
export function anyInfo(fields: Partial<ServerInfo> = {}): ServerInfo {
  return {
    name: 'Alpha',
    slug: 'alpha',
    address: 'play.example.org',
    port: 25_565,
    countryCode: 'ZZ',
    status: 'online',
    listingPause: null,
    onlinePlayers: 0,
    playersHidden: false,
    maxPlayers: 100,
    playersSource: 'probes',
    averagePlayers: 0,
    peakPlayers: 0,
    latencyMs: null,
    averageLatency: null,
    uptimePercentage: null,
    motd: '',
    version: '',
    votesCount: 0,
    rankVotes: null,
    monthlyVotes: 0,
    allTimeVotes: 0,
    rankPosition: 1,
    isPremium: false,
    lastCheckedAt: null,
    listedAt: new Date(0),
    ...fields,
  };
}
