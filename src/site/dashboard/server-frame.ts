import { html } from 'hono/html';
import { statusAt } from '../../history/current-status.ts';
import type { Server, ServerStatus } from '../../servers/server.ts';
import { contactLine } from '../contact.ts';
import type { Content, Html } from '../html.ts';
import { badge, notice, tabs } from '../parts.ts';
import { publicPath } from '../server-paths.ts';
import type { Site } from '../site-settings.ts';

type Frame = {
  site: Pick<Site, 'base' | 'pages' | 'contact'>;
  server: Pick<
    Server,
    '_id' | 'name' | 'slug' | 'probe' | 'lastReport' | 'hiddenAt' | 'hiddenReason' | 'profile'
  >;
  now: Date;
  /** The last part of the page's path, as in {@link PARTS}. */
  part: string;
  body: Content;
};

/** The parts of a server's dashboard, in the order of their tabs. */
export const PARTS = [
  ['', 'Overview'],
  ['/profile', 'Profile'],
  ['/votes', 'Votes'],
  ['/connect', 'Connect'],
  ['/listener', 'Vote listener'],
  ['/tokens', 'API access'],
  ['/statistics', 'Statistics'],
  ['/reviews', 'Reviews'],
  ['/members', 'Members'],
  ['/settings', 'Settings'],
] as const;

/** The path of a server's dashboard, or of one part of it. */
export function serverPath(base: string, server: Pick<Server, '_id'>, part = ''): string {
  return `${base}/dashboard/servers/${server._id.toHexString()}${part}`;
}

/** The frame of each page of a server: name, status and tabs. */
export function serverFrame({ site, server, now, part, body }: Frame): Html {
  const { base } = site;
  return html`<div class="page-head">
      <div>
        <p class="small"><a href="${base}/dashboard">Your servers</a> · <a href="${base}${publicPath(server)}">Public page</a></p>
        <h1><bdi>${server.name}</bdi></h1>
      </div>
      ${statusBadge(server, now)}
    </div>
    ${tabs(
      server.name,
      PARTS.map(([path, text]) => ({ href: serverPath(base, server, path), text })),
      serverPath(base, server, part),
    )}
    ${server.hiddenAt ? notice('attention', html`The operator has hidden this server from the ranking and public lists: “<bdi>${server.hiddenReason}</bdi>” Its API and votes keep working.${contactLine(site)}`) : ''}
    ${server.profile?.removals?.length && part !== '/profile' ? notice('attention', html`The operator removed a part of this server’s profile. <a href="${serverPath(base, server, '/profile')}">See the reason</a>.`) : ''}
    ${body}`;
}

/** The address for players: `play.example.org:25565`; an IPv6 address in brackets. */
export function addressOf({ address, port }: Pick<Server, 'address' | 'port'>): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

const TONES = { online: 'good', offline: 'bad', unknown: 'quiet' } as const;

/** A server's status as a badge. */
export function statusBadge(server: Pick<Server, 'probe' | 'lastReport'>, now: Date): Html {
  return badgeOf(statusAt(server, now));
}

export function badgeOf(status: ServerStatus): Html {
  return badge(TONES[status], status);
}
