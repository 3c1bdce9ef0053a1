import { html } from 'hono/html';
import { whyNotProbed } from '../../games/games.ts';
import { statusAt } from '../../history/current-status.ts';
import { defineMessage, type Text, t } from '../../platform/language/t.ts';
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
  ['', defineMessage('Overview')],
  ['/profile', defineMessage('Profile')],
  ['/votes', defineMessage('Votes')],
  ['/connect', defineMessage('Connect')],
  ['/listener', defineMessage('Vote listener')],
  ['/tokens', defineMessage('API access')],
  ['/statistics', defineMessage('Statistics')],
  ['/reviews', defineMessage('Reviews')],
  ['/members', defineMessage('Members')],
  ['/settings', defineMessage('Settings')],
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
        <p class="small"><a href="${base}/dashboard">${t('Your servers')}</a> · <a href="${base}${publicPath(server)}">${t('Public page')}</a></p>
        <h1><bdi>${server.name}</bdi></h1>
      </div>
      ${statusBadge(server, now)}
    </div>
    ${tabs(
      server.name,
      PARTS.map(([path, text]) => ({ href: serverPath(base, server, path), text: t(text) })),
      serverPath(base, server, part),
    )}
    ${server.hiddenAt ? notice('attention', html`${t('The operator has hidden this server from the ranking and public lists: “<bdi>{reason}</bdi>” Its API and votes keep working.', { reason: server.hiddenReason ?? '' })}${contactLine(site)}`) : ''}
    ${server.profile?.removals?.length && part !== '/profile' ? notice('attention', t('The operator removed a part of this server’s profile. <a>See the reason</a>.', { a: (text) => html`<a href="${serverPath(base, server, '/profile')}">${text}</a>` })) : ''}
    ${body}`;
}

/** The address for players: `play.example.org:25565`; an IPv6 address in brackets. */
export function addressOf({ address, port }: Pick<Server, 'address' | 'port'>): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

const STATUSES: Record<ServerStatus, Text> = {
  online: defineMessage('online'),
  offline: defineMessage('offline'),
  unknown: defineMessage('unknown'),
};

const TONES = { online: 'good', offline: 'bad', unknown: 'quiet' } as const;

/** A server's status as a badge. */
export function statusBadge(server: Pick<Server, 'probe' | 'lastReport' | 'game'>, now: Date): Html {
  return badgeOf(statusAt(server, now), server.game);
}

/** @param game - without reports, the status of a game that cannot be queried stays unknown */
export function badgeOf(status: ServerStatus, game: string | null | undefined): Html {
  const isNotProbed = status === 'unknown' && whyNotProbed(game) !== null;
  return badge(TONES[status], isNotProbed ? t('not probed') : t(STATUSES[status]));
}
