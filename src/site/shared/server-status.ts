import { whyNotProbed } from '../../games/games.ts';
import { statusAt } from '../../history/current-status.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
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

type Seen = Pick<Server, 'probe' | 'lastReport' | 'game' | 'listingPause' | 'earlierPauses'>;

export function statusBadge(server: Seen, now: Date): Html {
  const status = statusAt(server, now);
  return badge(TONES[status], statusWord(status, server, now));
}

function statusWord(status: ServerStatus, server: Seen, now: Date): string {
  if (pauseAt(server, now)) return t('paused');
  const { game } = server;
  return status === 'unknown' && whyNotProbed(game) !== null ? t('not probed') : t(STATUSES[status]);
}

/** Status and players in a few words: `online, 71 of 120`. */
export function serverStatusText(server: Seen & Pick<Server, 'current'>, now: Date): string {
  const status = statusAt(server, now);
  const { playersHidden, onlinePlayers, maxPlayers } = server.current;
  if (status !== 'online' || playersHidden) return statusWord(status, server, now);
  return maxPlayers > 0
    ? t('online, {players} of {most}', { players: count(onlinePlayers), most: count(maxPlayers) })
    : t('online, {players} playing', { players: count(onlinePlayers) });
}
