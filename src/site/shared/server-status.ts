import { type Edition, editionOf } from '../../games/editions.ts';
import { whyNotProbed } from '../../games/games.ts';
import { statusAt } from '../../history/current-status.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import type { ServerAddress } from '../../servers/listed-addresses.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import { secondOf } from '../../servers/second-address.ts';
import type { Server, ServerStatus } from '../../servers/server.ts';
import { count } from './format.ts';
import { type Html, html } from './html.ts';
import { badge } from './parts.ts';

export function serverAddress({ address, port }: Pick<Server, 'address' | 'port'>): string {
  return hostAndPort(address, port);
}

export const EDITION_NAMES: Record<Edition, { name: Text; short: Text }> = {
  java: { name: defineMessage('Java Edition'), short: defineMessage('Java') },
  bedrock: { name: defineMessage('Bedrock Edition'), short: defineMessage('Bedrock') },
};

type Addressed = ServerAddress & {
  game?: string | null | undefined;
  second?: ServerAddress | null | undefined;
};

/** The editions are named only if there are two addresses. */
export type ShownAddress = {
  edition: Edition | null;
  game: string | null;
  place: ServerAddress;
  text: string;
};

/** One, or those of both editions of Minecraft. */
export function shownAddresses(server: Addressed): ShownAddress[] {
  const second = secondOf(server);
  const shown = (game: string | null, place: ServerAddress, edition: Edition | null) => ({
    edition,
    game,
    place,
    text: serverAddress(place),
  });
  if (!second) return [shown(server.game ?? null, server, null)];
  const { id } = second.game;
  return [shown(server.game ?? null, server, editionOf(server.game)), shown(id, second, editionOf(id))];
}

/** In one line, for owners and operators. */
export function addressesText(server: Addressed): Html {
  const addresses = shownAddresses(server).map(({ edition, text }, at) => {
    const name = edition ? html` <span class="soft small">${t(EDITION_NAMES[edition].short)}</span>` : '';
    return html`${at > 0 ? ', ' : ''}<span class="mono">${text}</span>${name}`;
  });
  return html`${addresses}`;
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

export function stateBadge(status: ServerStatus): Html {
  return badge(TONES[status], t(STATUSES[status]));
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
