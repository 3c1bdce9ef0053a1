import type { WithId } from 'mongodb';
import { HOUR } from '../../platform/clock.ts';
import { useAllowance } from '../../platform/limits/rate-limit.ts';
import type { Server } from '../../servers/server.ts';

/** A network that votes as more different players than this in a day, over all servers, looks like a bot's. */
const MOST_PLAYERS_A_NETWORK = 6;

/** Up to this many players who never voted for a server before may use its vote form in an hour. */
const NEW_PLAYERS_AN_HOUR = 20;
/** More may when the server has players: this many for each player of its peak, up to a limit. */
const NEW_PLAYERS_A_PLAYER = 2;
/** A game server may lie to a probe, too. */
const MOST_NEW_PLAYERS_AN_HOUR = 500;
/** A server's own reports can be false: they count for at most this many players. */
export const MOST_REPORTED_PLAYERS = 50;

/** What looks unusual about a vote of the vote form, as a sentence for operators; null when nothing does. */
export async function whySuspicious(
  deps: Parameters<typeof useAllowance>[0],
  vote: {
    server: WithId<Pick<Server, 'daily' | 'current' | 'lastReport'>>;
    /** The player never voted for the server before. */
    isNew: boolean;
    /** How many players its network voted as today; null for a signed-in user. */
    playersOfNetwork: number | null;
  },
): Promise<string | null> {
  const { server, isNew, playersOfNetwork } = vote;
  if (playersOfNetwork !== null && playersOfNetwork > MOST_PLAYERS_A_NETWORK)
    return `One network voted as more than ${MOST_PLAYERS_A_NETWORK} players in a day.`;
  if (!isNew) return null;
  const times = newPlayersAllowed(server);
  const refusedUntil = await useAllowance(deps, `new-web-voters:${server._id.toHexString()}`, {
    times,
    windowMs: HOUR,
  });
  return refusedUntil && `More than ${times} players voted for the first time within an hour.`;
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
