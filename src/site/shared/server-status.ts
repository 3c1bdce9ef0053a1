import { whyNotProbed } from '../../games/games.ts';
import { statusAt } from '../../history/current-status.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import type { Server, ServerStatus } from '../../servers/server.ts';
import { count } from './format.ts';
import type { Html } from './html.ts';
import { badge } from './parts.ts';

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
  const status = statusAt(server, now);
  return badge(TONES[status], statusWord(status, server.game));
}

function statusWord(status: ServerStatus, game: string | null | undefined): string {
  return status === 'unknown' && whyNotProbed(game) !== null ? t('not probed') : t(STATUSES[status]);
}

/** Status and players in a few words: `online, 71 of 120`. */
export function serverStatusText(
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
