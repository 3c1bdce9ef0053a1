import type { Server } from '../../servers/server.ts';
import type { Html } from '../shared/html.ts';
import { badge } from '../shared/parts.ts';
import { statusBadge } from '../shared/server-status.ts';

/** A server's states as badges of the admin area. */
export function stateBadges(server: Server, now: Date): Html[] {
  if (server.removedAt) return [badge('bad', 'removed')];
  return [
    statusBadge(server, now),
    ...(server.hiddenAt ? [badge('attention', 'hidden')] : []),
    ...(server.isPremium ? [badge('quiet', 'premium')] : []),
  ];
}
