import type { UUID } from 'mongodb';
import type { Auth } from '../../accounts/auth.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import { tabsOf } from '../shared/area.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { badge, tabs } from '../shared/parts.ts';
import { statusBadge } from '../shared/server-status.ts';
import { ADMIN_AREA, type AdminTab } from './admin-pages.ts';

/** The path of a page of the admin area. `path` is below the admin area: `/votes`. */
export function adminPath(base: string, path = ''): string {
  return `${base}${ADMIN_AREA.path}${path}`;
}

export function adminServerPath(base: string, server: { _id: { toHexString(): string } }, path = ''): string {
  return adminPath(base, `/servers/${server._id.toHexString()}${path}`);
}

export function adminVotePath(base: string, vote: { _id: UUID }): string {
  return adminPath(base, `/votes/${vote._id.toString()}`);
}

/** The frame of each admin page: heading and tabs. `part` is the current tab. */
export function adminFrame(frame: { base: string; part: AdminTab; head?: Content; body: Content }): Html {
  const { base, part, head, body } = frame;
  return html`${head ?? html`<h1>Admin area</h1>`}
    ${tabs(
      'Admin area',
      tabsOf(ADMIN_AREA).map(({ path, tab }) => ({ href: adminPath(base, path), text: tab })),
      adminPath(base, part),
    )}
    ${body}`;
}

/** Dependencies of the pages in this folder. */
export type AdminParts = { deps: AppDeps; auth: Auth };

/** A server's states as badges of the admin area. */
export function stateBadges(server: Server, now: Date): Html[] {
  if (server.removedAt) return [badge('bad', 'removed')];
  return [
    statusBadge(server, now),
    ...(server.hiddenAt ? [badge('attention', 'hidden')] : []),
    ...(server.isPremium ? [badge('quiet', 'premium')] : []),
  ];
}
