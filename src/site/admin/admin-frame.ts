import type { UUID } from 'mongodb';
import { railGroups, tabsOf } from '../shared/area.ts';
import { pageHead } from '../shared/deck.ts';
import { type Content, html } from '../shared/html.ts';
import type { Framed } from '../shared/layout.ts';
import { rail } from '../shared/rail.ts';
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

/** The frame of each admin page: rail and heading. `part` is the current part; its name is the heading by default. */
export function adminFrame(frame: { base: string; part: AdminTab; head?: Content; body: Content }): Framed {
  const { base, part, head, body } = frame;
  const name = tabsOf<string>(ADMIN_AREA).find(({ path }) => path === part)?.tab;
  const side = rail({
    label: 'Parts of the admin area',
    whose: html`<p class="whose site"><b>Admin area</b></p>`,
    groups: railGroups<string>(ADMIN_AREA, String, (path) => adminPath(base, path)),
    current: adminPath(base, part),
  });
  return { side, body: html`${head ?? pageHead({ title: name })}${body}` };
}
