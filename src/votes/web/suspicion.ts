import type { WithId } from 'mongodb';
import { HOUR } from '../../platform/clock.ts';
import { defineLimit, limitFor } from '../../platform/limits/define-limit.ts';
import { useAllowance } from '../../platform/limits/rate-limit.ts';
import type { Server } from '../../servers/server.ts';
import type { VotesDeps } from '../deps.ts';
import type { QuarantineCause } from '../exclusions/vote-exclusion.ts';
import type { NetworkLimits } from './network-limits.ts';
import { mailDomainKey, neighbourhoodKey, type Voter, widerNetworkKey } from './origin-keys.ts';
import type { PlayerStatus } from './vote-origin.ts';

/** How many new players vote in an hour, for each player of the peak. */
const NEW_PLAYERS_A_PLAYER = 2;
/** A game server may answer a probe with a false number. */
const MOST_NEW_PLAYERS_AN_HOUR = 500;
/** Once a server has sent a report, at most this many of its players count: reports can be false. */
export const MOST_REPORTED_PLAYERS = 50;

/** Networks, neighbourhoods, mail domains and proven players have their own parts of it. */
const NEW_PLAYERS = defineLimit({
  key: 'new-web-voters',
  what: 'Players who vote for the first time on the vote form',
  of: `server; ${NEW_PLAYERS_A_PLAYER} for each player of its peak if that is more, at most ${MOST_NEW_PLAYERS_AN_HOUR}`,
  times: 20,
  windowMs: HOUR,
  beyond: 'their votes are held',
});

/** `origin`: the keyed hash of the network or mail domain. */
export type Suspicion = { cause: QuarantineCause; origin?: string; reason: string };

type SuspectVote = {
  server: WithId<Pick<Server, 'daily' | 'current' | 'lastReport'>>;
  voter: Voter;
  playerStatus: PlayerStatus;
  /** Whether the player never voted for the server before, apart from excluded votes. */
  isNew: boolean;
  /** The new players of the network today, as `useOrigins` returns them. */
  newPlayersOfNetwork: { count: number; origin: string };
  limits: NetworkLimits;
};

/** Null if the vote looks normal. */
export async function whySuspicious(deps: VotesDeps, vote: SuspectVote): Promise<Suspicion | null> {
  const { server, voter, playerStatus, isNew, newPlayersOfNetwork, limits } = vote;
  const { newPlayersOverAll: most } = limits;
  if (playerStatus === 'new' && newPlayersOfNetwork.count > most) {
    const reason = `One network voted as more than ${most} new players in a day.`;
    return { cause: 'network', origin: newPlayersOfNetwork.origin, reason };
  }
  if (!isNew) return null;
  const times = newPlayersAllowed(server);
  const takeFrom = budgetOf(deps, server, times);
  if (playerStatus === 'new') return whySuspiciousVisitor(deps, takeFrom, vote);
  if (voter.account && voter.account.domain !== null) {
    const domain = mailDomainKey(deps, voter.account.domain);
    if (!(await takeFrom(`mail:${domain}`, { share: 1 / 4 })))
      return {
        cause: 'mail-domain',
        origin: domain,
        reason: `Accounts of one mail domain were more than ${Math.ceil(times / 4)} of the players who voted for the first time within an hour.`,
      };
  }
  // Established and returning players have their own budget. Beyond it they count as visitors.
  if (await takeFrom('proven', { share: 2 })) return null;
  return whySuspiciousVisitor(deps, takeFrom, vote);
}

/** Counts a player in a part of a server's hourly budget of new players. False if the part is used up. */
type TakeFromBudget = (part: string, size: { players: number } | { share: number }) => Promise<boolean>;

function budgetOf(deps: VotesDeps, { _id }: SuspectVote['server'], budget: number): TakeFromBudget {
  return async (part, size) => {
    const times = 'players' in size ? size.players : Math.ceil(size.share * budget);
    return (await useAllowance(deps, limitFor({ ...NEW_PLAYERS, times }, `${_id}:${part}`))) === null;
  };
}

/**
 * Counts a player in the budgets of network, neighbourhood and server; null if all allow the vote. The first player of
 * each network counts in the whole budget, further ones in a second one of half the size, so that a few busy networks
 * do not use it up for others.
 */
async function whySuspiciousVisitor(
  deps: VotesDeps,
  takeFrom: TakeFromBudget,
  vote: SuspectVote,
): Promise<Suspicion | null> {
  const { server, voter, limits } = vote;
  const times = newPlayersAllowed(server);
  const network = widerNetworkKey(deps, voter.address);
  const isFirst = await takeFrom(`first:${network}`, { players: 1 });
  if (!isFirst && !(await takeFrom(`more:${network}`, { players: limits.newPlayers - 1 })))
    return {
      cause: 'network',
      origin: network,
      reason: `More than ${limits.newPlayers} players of one network voted for the first time within an hour.`,
    };
  const neighbourhood = neighbourhoodKey(deps, voter.address);
  if (!(await takeFrom(`near:${neighbourhood}`, { share: 1 / 2 })))
    return {
      cause: 'neighbourhood',
      origin: neighbourhood,
      reason: `Players of one IPv4 /16 or IPv6 /32 were more than ${Math.ceil(times / 2)} of those who voted for the first time within an hour.`,
    };
  const hasPlace = isFirst
    ? await takeFrom('firsts', { share: 1 })
    : await takeFrom('others', { share: 1 / 2 });
  if (hasPlace) return null;
  return {
    cause: 'new-players',
    reason: isFirst
      ? `Players of more than ${times} networks voted for the first time within an hour.`
      : `More than ${Math.ceil(times / 2)} players voted for the first time within an hour beside another one of their network.`,
  };
}

/** How many new players may vote in an hour; the votes of others are held. */
export function newPlayersAllowed({
  daily,
  current,
  lastReport,
}: Pick<Server, 'daily' | 'current' | 'lastReport'>): number {
  const peak = Math.max(daily.peakPlayers, current.onlinePlayers);
  const players = lastReport ? Math.min(peak, MOST_REPORTED_PLAYERS) : peak;
  return Math.min(Math.max(NEW_PLAYERS.times, NEW_PLAYERS_A_PLAYER * players), MOST_NEW_PLAYERS_AN_HOUR);
}
