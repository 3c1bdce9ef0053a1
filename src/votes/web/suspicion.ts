import type { WithId } from 'mongodb';
import { HOUR } from '../../platform/clock.ts';
import { type Allowance, useAllowance } from '../../platform/limits/rate-limit.ts';
import type { Server } from '../../servers/server.ts';
import type { QuarantineCause } from '../exclusions/vote-exclusion.ts';
import type { NetworkLimits } from './network-limits.ts';
import { mailDomainKey, neighbourhoodKey, type Voter, widerNetworkKey } from './origin-keys.ts';
import type { PlayerStatus } from './vote-origin.ts';

/** Up to this many players who never voted for a server before may use its vote form in an hour. */
const NEW_PLAYERS_AN_HOUR = 20;
/** If the server has many players: this many new players for each player of its peak may vote in an hour. */
const NEW_PLAYERS_A_PLAYER = 2;
/** The limit of that, because a game server may also answer a probe with a false number. */
const MOST_NEW_PLAYERS_AN_HOUR = 500;
/** A server's own reports can be false: they count for at most this many players. */
export const MOST_REPORTED_PLAYERS = 50;

/**
 * Why a vote is held. `origin`: the keyed hash of what is suspicious; absent if it is all votes of the server together.
 */
export type Suspicion = { cause: QuarantineCause; origin?: string; reason: string };

type LimitDeps = Parameters<typeof useAllowance>[0] & { config: { SECRET_KEY: string } };

type SuspectVote = {
  server: WithId<Pick<Server, 'daily' | 'current' | 'lastReport'>>;
  voter: Voter;
  playerStatus: PlayerStatus;
  /** The player never voted for the server before. */
  isNew: boolean;
  /** The new players of the voter's network today, as `useOrigins` gives them. */
  newPlayersOfNetwork: { count: number; origin: string };
  limits: NetworkLimits;
};

/** What looks unusual about a vote of the vote form; null when nothing does. */
export async function whySuspicious(deps: LimitDeps, vote: SuspectVote): Promise<Suspicion | null> {
  const { server, voter, playerStatus, isNew, newPlayersOfNetwork, limits } = vote;
  const { newPlayersOverAll: most } = limits;
  if (playerStatus === 'new' && newPlayersOfNetwork.count > most) {
    const reason = `One network voted as more than ${most} new players in a day.`;
    return { cause: 'network', origin: newPlayersOfNetwork.origin, reason };
  }
  if (!isNew) return null;
  const times = newPlayersAllowed(server);
  const hour = hourOf(deps, server, times);
  if (playerStatus === 'new') return asVisitor(deps, hour, vote);
  if (voter.account && voter.account.domain !== null) {
    const domain = mailDomainKey(deps, voter.account.domain);
    if (!(await hour(`mail:${domain}`, 1 / 4)))
      return {
        cause: 'mail-domain',
        origin: domain,
        reason: `Accounts of one mail domain were more than ${Math.ceil(times / 4)} of the players who voted for the first time within an hour.`,
      };
  }
  // If the places of proven players are used up, the next one takes the place of a visitor.
  if (await hour('proven', 2)) return null;
  return asVisitor(deps, hour, vote);
}

/**
 * Uses one place of a part of a server's budget for this hour. The part has `times` places, by default `factor` ×
 * budget. False if no place is left.
 */
type Hour = (part: string, factor: number, times?: number) => Promise<boolean>;

function hourOf(deps: LimitDeps, { _id }: SuspectVote['server'], budget: number): Hour {
  return async (part, factor, times = Math.ceil(factor * budget)) => {
    const allowance: Allowance = { times, windowMs: HOUR };
    return (await useAllowance(deps, `new-web-voters:${_id.toHexString()}:${part}`, allowance)) === null;
  };
}

/**
 * A new player uses a place of the network, then a place of its neighbourhood, then a place of the server. The server
 * has its whole budget for the first players of networks, and half as many places for all further players. So a few
 * busy networks do not use up the places of other networks.
 */
async function asVisitor(deps: LimitDeps, hour: Hour, vote: SuspectVote): Promise<Suspicion | null> {
  const { server, voter, limits } = vote;
  const times = newPlayersAllowed(server);
  const network = widerNetworkKey(deps, voter.address);
  const isFirst = await hour(`first:${network}`, 0, 1);
  if (!isFirst && !(await hour(`more:${network}`, 0, limits.newPlayers - 1)))
    return {
      cause: 'network',
      origin: network,
      reason: `More than ${limits.newPlayers} players of one network voted for the first time within an hour.`,
    };
  const neighbourhood = neighbourhoodKey(deps, voter.address);
  if (!(await hour(`near:${neighbourhood}`, 1 / 2)))
    return {
      cause: 'neighbourhood',
      origin: neighbourhood,
      reason: `Players of one IPv4 /16 or IPv6 /32 were more than ${Math.ceil(times / 2)} of those who voted for the first time within an hour.`,
    };
  const hasPlace = isFirst ? await hour('firsts', 1) : await hour('others', 1 / 2);
  if (hasPlace) return null;
  return {
    cause: 'new-players',
    reason: isFirst
      ? `Players of more than ${times} networks voted for the first time within an hour.`
      : `More than ${Math.ceil(times / 2)} players voted for the first time within an hour beside another one of their network.`,
  };
}

/** How many new players a server's vote form may have in an hour before their votes look unusual. */
export function newPlayersAllowed({
  daily,
  current,
  lastReport,
}: Pick<Server, 'daily' | 'current' | 'lastReport'>): number {
  const peak = Math.max(daily.peakPlayers, current.onlinePlayers);
  const players = lastReport ? Math.min(peak, MOST_REPORTED_PLAYERS) : peak;
  return Math.min(Math.max(NEW_PLAYERS_AN_HOUR, NEW_PLAYERS_A_PLAYER * players), MOST_NEW_PLAYERS_AN_HOUR);
}
