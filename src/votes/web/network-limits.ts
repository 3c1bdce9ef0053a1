import type { Config } from '../../platform/config.ts';

/**
 * How many different players may vote from one network (IPv4 /24, IPv6 /64) on a UTC day. An IPv6 /48 has four times
 * these limits. For the reasons, see docs/adr/0108-accounts-count-against-their-network.md.
 */
export type NetworkLimits = {
  /** New players for one server. Votes of further new players are refused. */
  newPlayers: number;
  /** New players over all servers. Votes of further new players are held. */
  newPlayersOverAll: number;
  /** All players for one server, also established and returning ones. Votes of further players are refused. */
  players: number;
};

/** Enough for a school class on one network, and too few for somebody who votes under many invented names. */
const MOST_PLAYERS = 30;

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
 * How many votes one network may cast on a UTC day, over all servers. Further votes are refused, which keeps the stored
 * document small. New players alone, and visitors (new and returning players) together, have lower limits, so that they
 * cannot use up the votes of returning players and accounts.
 */
export const MOST_VOTES = { new: 300, visitors: 700, all: 1_000 };

/**
 * An IPv6 /48 has this many times `MOST_VOTES`, so that one of its networks cannot use up all of them. The factor is
 * lower than for its other limits, because its document grows with each vote.
 */
export const MOST_VOTES_FACTOR = 2;

/** For how many servers an established account may vote on a UTC day, so that it cannot use up its network's votes. */
export const MOST_SERVERS_OF_ACCOUNT = 100;
