import type { ObjectId, UUID, WithId } from 'mongodb';
import type { Auth } from '../../accounts/auth.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import { areaRail, tabOf } from '../shared/area.ts';
import { pageHead } from '../shared/deck.ts';
import type { Site } from '../shared/decorate-site.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { badge } from '../shared/parts.ts';
import type { RailCount } from '../shared/rail.ts';
import { statusBadge } from '../shared/server-status.ts';
import { ADMIN_AREA, type AdminTab } from './admin-pages.ts';

export function adminPath(base: string, path = ''): string {
  return `${base}${ADMIN_AREA.path}${path}`;
}

export function adminServerPath(base: string, server: { _id: { toHexString(): string } }, path = ''): string {
  return adminPath(base, `/servers/${server._id.toHexString()}${path}`);
}

export function adminVotePath(base: string, vote: { _id: UUID }): string {
  return adminPath(base, `/votes/${vote._id.toString()}`);
}

export type NamedServer = Pick<WithId<Server>, '_id' | 'name'>;

type AdminPage = Page & {
  base: string;
  part: AdminTab;
  head?: Content;
  /** By the path of their part. */
  counts?: Record<string, RailCount>;
};

/** `head` replaces the heading, which is the name of the part. */
export function adminPage({ base, part, head, counts, body, ...page }: AdminPage): Page {
  const side = ({ url }: Site) =>
    areaRail<string>(ADMIN_AREA, {
      label: 'Parts of the admin area',
      whose: html`<p class="whose site"><b>Admin area</b><span>${new URL(url).host}</span></p>`,
      name: String,
      href: (path) => adminPath(base, path),
      part,
      counts,
    });
  return {
    ...page,
    side,
    body: html`${head ?? pageHead({ title: tabOf<string>(ADMIN_AREA, part) })}${body}`,
  };
}

export async function serverNames({ servers }: AppDeps, ids: ObjectId[]): Promise<Map<string, NamedServer>> {
  const found = await servers.find({ _id: { $in: ids } }, { projection: { name: 1 } }).toArray();
  return new Map(found.map((server) => [server._id.toHexString(), server]));
}

export function serverLink(base: string, server: NamedServer, part = ''): Html {
  return html`<a href="${adminServerPath(base, server, part)}"><bdi>${server.name}</bdi></a>`;
}

export type AdminParts = { deps: AppDeps; auth: Auth };

export function stateBadges(server: Server, now: Date): Html[] {
  if (server.removedAt) return [badge('bad', 'removed')];
  return [
    statusBadge(server, now),
    ...(server.hiddenAt ? [badge('attention', 'hidden')] : []),
    ...(server.isPremium ? [badge('quiet', 'premium')] : []),
  ];
}
