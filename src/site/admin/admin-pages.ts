import type { Area } from '../shared/area.ts';
import { SITE_PAGES, type SitePageName } from '../site-pages.ts';

export const ADMIN_AREA = {
  path: '/operator',
  access: 'operator',
  pages: [
    { path: '', tab: 'Inbox', icon: 'inbox' },
    { path: '/complaints', kind: 'redirect' },
    { path: '/votes', tab: 'Votes', icon: 'tally-5', group: 'Players', example: '?server=:serverId' },
    { path: '/votes/:voteId' },
    { path: '/votes/exclude', example: '?server=:serverId&since=2026-01-01T00:00' },
    { path: '/votes/exclude-player', example: '?player=Steve' },
    { path: '/votes/exclusions', kind: 'part' },
    { path: '/blocks', tab: 'Blocks', icon: 'ban', group: 'Players' },
    { path: '/users', tab: 'Users', icon: 'user', group: 'Players' },
    { path: '/users/:userId' },
    { path: '/servers', tab: 'Servers', icon: 'server', group: 'Listing' },
    { path: '/servers/:serverId' },
    { path: '/listeners/:listenerId' },
    { path: '/reviews', tab: 'Reviews', icon: 'star', group: 'Listing' },
    { path: '/tags', tab: 'Tags', icon: 'tag', group: 'Listing' },
    { path: '/announcement', tab: 'Announcement', icon: 'megaphone', group: 'Site' },
    { path: '/settings', tab: 'Settings', icon: 'settings', group: 'Site' },
    { path: '/settings/mail' },
    { path: '/settings/discord' },
    { path: '/settings/openid' },
    { path: '/settings/limits' },
    { path: '/settings/logo' },
    { path: '/settings/undo' },
    ...pagesOfOperators(),
    { path: '/figures', tab: 'Figures', icon: 'chart-line', group: 'System' },
    { path: '/figures.csv', kind: 'file' },
    { path: '/queues', tab: 'Queues', icon: 'layers', group: 'System', kind: 'plugin' },
    { path: '/audit', tab: 'Audit log', icon: 'scroll-text', group: 'System' },
    { path: '/system', tab: 'System', icon: 'heart-pulse', group: 'System' },
    { path: '/setup' },
  ],
} as const satisfies Area<string>;

export type AdminTab = Extract<(typeof ADMIN_AREA.pages)[number], { tab: string }>['path'];

function pagesOfOperators(): { path: `/settings/pages/${SitePageName}` }[] {
  const names = Object.keys(SITE_PAGES) as SitePageName[];
  return names.map((name) => ({ path: `/settings/pages/${name}` }));
}
