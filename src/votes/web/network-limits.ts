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
 * How many votes (a player at a server) one network may cast on a UTC day, over all servers; if there are more, they are
 * refused. This keeps the stored document small. New players have a share, and so have visitors (new and returning
 * players): if a visitor votes for very many servers, the network's returning players and accounts still have room.
 */
export const MOST_VOTES = { new: 300, visitors: 700, all: 1_000 };

/**
 * An IPv6 /48 has this many times `MOST_VOTES`: more than one of its networks can use, and less than its other limits
 * allow, because its document grows with it.
 */
export const MOST_VOTES_FACTOR = 2;

/** For how many servers an established account may vote on a UTC day. One account cannot use up its network's votes. */
export const MOST_SERVERS_OF_ACCOUNT = 100;
