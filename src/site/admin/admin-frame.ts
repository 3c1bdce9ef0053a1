import type { UUID } from 'mongodb';
import { type Content, type Html, html } from '../shared/html.ts';
import { tabs } from '../shared/parts.ts';

/** The parts of the admin area, in the order of their tabs: path and text. */
export const PARTS = [
  ['', 'Attention'],
  ['/figures', 'Figures'],
  ['/reviews', 'Reviews'],
  ['/servers', 'Servers'],
  ['/votes', 'Votes'],
  ['/blocks', 'Blocks'],
  ['/users', 'Users'],
  ['/tags', 'Tags'],
  ['/announcement', 'Announcement'],
  ['/settings', 'Settings'],
  ['/audit', 'Audit log'],
  ['/queues', 'Queues'],
  ['/system', 'System'],
] as const;

type AdminPart = (typeof PARTS)[number][0];

/** The path of a page of the admin area. `path` is below the admin area: `/votes`. */
export function adminPath(base: string, path = ''): string {
  return `${base}/operator${path}`;
}

export function adminServerPath(base: string, server: { _id: { toHexString(): string } }, path = ''): string {
  return adminPath(base, `/servers/${server._id.toHexString()}${path}`);
}

export function adminVotePath(base: string, vote: { _id: UUID }): string {
  return adminPath(base, `/votes/${vote._id.toString()}`);
}

/** The frame of each admin page: heading and tabs. `part` is the current tab. */
export function adminFrame(frame: { base: string; part: AdminPart; head?: Content; body: Content }): Html {
  const { base, part, head, body } = frame;
  return html`${head ?? html`<h1>Admin area</h1>`}
    ${tabs(
      'Admin area',
      PARTS.map(([path, text]) => ({ href: adminPath(base, path), text })),
      adminPath(base, part),
    )}
    ${body}`;
}
