import { DAY } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { defineLimit, timesBySetting } from '../../platform/limits/define-limit.ts';
import { WIDER_NETWORK_FACTOR } from '../../platform/limits/network-of.ts';

/**
 * Players from one network (IPv4 /24, IPv6 /64) on a UTC day. An IPv6 /48 has four times these limits (see
 * docs/adr/0108-accounts-count-against-their-network.md).
 */
export type NetworkLimits = {
  /** For one server. Votes of further new players are refused. */
  newPlayers: number;
  /** Votes of further new players are held. */
  newPlayersOverAll: number;
  /** For one server, also established and returning ones. Votes of further players are refused. */
  players: number;
};

const OF_DAY = { windowMs: DAY, isOfUtcDay: true, beyond: 'their votes are refused' } as const;
const NETWORK = 'network (IPv4 /24 or IPv6 /64)';
const WIDER = `an IPv6 /48 has ${WIDER_NETWORK_FACTOR} times as many`;

const NEW_PLAYERS = defineLimit({
  ...OF_DAY,
  key: 'origins:new-players',
  what: 'New players on the vote form',
  of: `server and ${NETWORK}; ${WIDER}`,
  setting: 'WEB_VOTE_PLAYERS',
});
const NEW_PLAYERS_OVER_ALL = defineLimit({
  ...OF_DAY,
  key: 'origins:new-players-over-all',
  what: 'New players on the vote form',
  of: `${NETWORK}; ${WIDER}`,
  setting: 'WEB_VOTE_PLAYERS',
  part: 1.5,
  beyond: 'their votes are held',
});
/** Enough for a school class on one network, and too few for somebody who votes under many invented names. */
const PLAYERS = defineLimit({
  ...OF_DAY,
  key: 'origins:players',
  what: 'Players on the vote form: new, established and returning ones',
  of: `server and ${NETWORK}, at least \`WEB_VOTE_PLAYERS\`; ${WIDER}`,
  times: 30,
});

export function networkLimits(config: Pick<Config, 'WEB_VOTE_PLAYERS'>): NetworkLimits {
  const newPlayers = timesBySetting(NEW_PLAYERS, config).times;
  return {
    newPlayers,
    newPlayersOverAll: timesBySetting(NEW_PLAYERS_OVER_ALL, config).times,
    players: Math.max(PLAYERS.times, newPlayers),
  };
}

/** Lower for an IPv6 /48 than that of its other limits, because its document grows with each vote. */
export const MOST_VOTES_FACTOR = 2;

/**
 * Of one network on a UTC day, over all servers: this keeps the stored document small. New players, and all visitors,
 * have lower limits, so that they cannot use up the votes of returning players and accounts.
 */
export const MOST_VOTES = {
  new: votesOfNetwork('new', 'Votes of new players', 300),
  visitors: votesOfNetwork('visitors', 'Votes of new and returning players', 700),
  all: votesOfNetwork('all', 'Votes', 1_000),
};

function votesOfNetwork(key: string, votes: string, times: number): number {
  const what = `${votes} on the vote form, over all servers`;
  const of = `${NETWORK}; an IPv6 /48 has ${MOST_VOTES_FACTOR} times as many`;
  return defineLimit({ ...OF_DAY, key: `origins:votes:${key}`, what, of, times }).times;
}

/** An account must not use up its network's votes. */
export const MOST_SERVERS_OF_ACCOUNT = defineLimit({
  ...OF_DAY,
  key: 'origins:account',
  what: 'Servers with a vote on the vote form',
  of: 'established account',
  times: 100,
}).times;
