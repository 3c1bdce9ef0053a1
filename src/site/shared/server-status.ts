import { whyNotProbed } from '../../games/games.ts';
import { statusAt } from '../../history/current-status.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import type { Server, ServerStatus } from '../../servers/server.ts';
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
  const isNotProbed = status === 'unknown' && whyNotProbed(server.game) !== null;
  return badge(TONES[status], isNotProbed ? t('not probed') : t(STATUSES[status]));
}
