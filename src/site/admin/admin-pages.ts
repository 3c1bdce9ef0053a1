import type { Area } from '../shared/area.ts';
import { SITE_PAGES, type SitePageName } from '../site-pages.ts';

export const ADMIN_AREA = {
  path: '/operator',
  access: 'operator',
  pages: [
    { path: '', tab: 'Attention' },
    { path: '/complaints', kind: 'redirect' },
    { path: '/figures', tab: 'Figures' },
    { path: '/figures.csv', kind: 'file' },
    { path: '/reviews', tab: 'Reviews' },
    { path: '/servers', tab: 'Servers' },
    { path: '/servers/:serverId' },
    { path: '/votes', tab: 'Votes', example: '?server=:serverId' },
    { path: '/votes/:voteId' },
    { path: '/votes/exclude', example: '?server=:serverId&since=2026-01-01T00:00' },
    { path: '/votes/exclude-player', example: '?player=Steve' },
    { path: '/votes/exclusions', kind: 'part' },
    { path: '/blocks', tab: 'Blocks' },
    { path: '/users', tab: 'Users' },
    { path: '/users/:userId' },
    { path: '/tags', tab: 'Tags' },
    { path: '/announcement', tab: 'Announcement' },
    { path: '/settings', tab: 'Settings' },
    { path: '/settings/mail' },
    { path: '/settings/discord' },
    { path: '/settings/openid' },
    { path: '/settings/limits' },
    { path: '/settings/logo' },
    { path: '/settings/undo' },
    ...pagesOfOperators(),
    { path: '/audit', tab: 'Audit log' },
    { path: '/queues', tab: 'Queues', kind: 'plugin' },
    { path: '/listeners/:listenerId' },
    { path: '/system', tab: 'System' },
    { path: '/setup' },
  ],
} as const satisfies Area<string>;

export type AdminTab = Extract<(typeof ADMIN_AREA.pages)[number], { tab: string }>['path'];

function pagesOfOperators(): { path: `/settings/pages/${SitePageName}` }[] {
  const names = Object.keys(SITE_PAGES) as SitePageName[];
  return names.map((name) => ({ path: `/settings/pages/${name}` }));
}
