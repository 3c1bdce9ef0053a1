import type { Config } from '../../platform/config.ts';

/**
 * How many different players may vote from one network (IPv4 /24, IPv6 /64) on a UTC day. An IPv6 /48 has four times
 * these limits. docs/adr/0108-accounts-count-against-their-network.md has the reasons.
 */
export type NetworkLimits = {
  /** New players for one server. If there are more, their votes are refused. */
  newPlayers: number;
  /** New players over all servers. If there are more, their votes are held. */
  newPlayersOverAll: number;
  /** All players for one server, also established and returning ones. If there are more, their votes are refused. */
  players: number;
};

/** Enough for a school class on one network, and too few for somebody who votes under many invented names. */
const MOST_PLAYERS = 30;

/** The limits that follow from `WEB_VOTE_PLAYERS`. */
export function networkLimits({
  WEB_VOTE_PLAYERS: newPlayers,
}: Pick<Config, 'WEB_VOTE_PLAYERS'>): NetworkLimits {
  return {
    newPlayers,
    newPlayersOverAll: Math.ceil(1.5 * newPlayers),
    players: Math.max(MOST_PLAYERS, newPlayers),
  };
}

/**
 * The most entries (a player at a server) stored for one origin and day, over all servers. This limit keeps the
 * document small.
 */
export const MOST_ENTRIES = 1_000;
