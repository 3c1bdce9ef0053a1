import { whyNotProbed } from '../../games/games.ts';
import { statusAt } from '../../history/current-status.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import type { Server, ServerStatus } from '../../servers/server.ts';
import { count } from './format.ts';
import type { Html } from './html.ts';
import { badge } from './parts.ts';

/** The address where players connect: `play.example.org:25565`; an IPv6 address is in brackets. */
export function serverAddress({ address, port }: Pick<Server, 'address' | 'port'>): string {
  return hostAndPort(address, port);
}

const STATUSES: Record<ServerStatus, Text> = {
  online: defineMessage('online'),
  offline: defineMessage('offline'),
  unknown: defineMessage('unknown'),
};

const TONES = { online: 'good', offline: 'bad', unknown: 'quiet' } as const;

export function statusBadge(server: Pick<Server, 'probe' | 'lastReport' | 'game'>, now: Date): Html {
  return serverStatusBadge(statusAt(server, now), server.game);
}

/** A server's status and players in a few words: `online, 71 of 120 players`. */
export function statusText(
  server: Pick<Server, 'probe' | 'lastReport' | 'game' | 'current'>,
  now: Date,
): string {
  const status = statusAt(server, now);
  const { playersHidden, onlinePlayers, maxPlayers } = server.current;
  if (status !== 'online' || playersHidden) return statusWord(status, server.game);
  return maxPlayers > 0
    ? t('online, {players} of {most}', { players: count(onlinePlayers), most: count(maxPlayers) })
    : t('online, {players} playing', { players: count(onlinePlayers) });
}

/** A status as a word. If servers of the game cannot be probed, an unknown status is “not probed”. */
function statusWord(status: ServerStatus, game: string | null | undefined): string {
  return status === 'unknown' && whyNotProbed(game) !== null ? t('not probed') : t(STATUSES[status]);
}

/** A status as a badge. */
export function serverStatusBadge(status: ServerStatus, game: string | null | undefined): Html {
  return badge(TONES[status], statusWord(status, game));
}
