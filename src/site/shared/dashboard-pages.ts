import { defineMessage, type Text } from '../../language/t.ts';
import type { Area } from './area.ts';

const LISTING = defineMessage('Listing');
const VOTES = defineMessage('Votes');
const SERVER = defineMessage('Server');

/** The pages of a server for its owner and members, and for operators. */
export const SERVER_AREA = {
  path: '/dashboard/servers/:serverId',
  access: 'owner',
  pages: [
    { path: '', tab: defineMessage('Overview'), icon: 'layout-dashboard', group: LISTING },
    { path: '/profile', tab: defineMessage('Profile'), icon: 'image', group: LISTING },
    { path: '/votes', tab: defineMessage('All votes'), icon: 'tally-5', group: VOTES },
    { path: '/votes/resend' },
    { path: '/votes/:voteId' },
    { path: '/goal', tab: defineMessage('Vote goal'), icon: 'trophy', group: VOTES },
    { path: '/listener', tab: defineMessage('Vote listener'), icon: 'radio-tower', group: VOTES },
    { path: '/listener/test', kind: 'redirect' },
    { path: '/deliveries', tab: defineMessage('Delivery'), icon: 'send', group: VOTES },
    { path: '/deliveries/:table', kind: 'file' },
    { path: '/connect', tab: defineMessage('Connect'), icon: 'plug', group: VOTES },
    { path: '/connect/key', kind: 'redirect' },
    { path: '/connect/relay', kind: 'redirect' },
    { path: '/connect/check', kind: 'redirect' },
    { path: '/tokens', tab: defineMessage('API access'), icon: 'key-round', group: VOTES },
    { path: '/statistics', tab: defineMessage('Statistics'), icon: 'chart-line', group: SERVER },
    { path: '/statistics/:table', kind: 'file' },
    { path: '/reviews', tab: defineMessage('Reviews'), icon: 'star', group: SERVER },
    { path: '/members', tab: defineMessage('Members'), icon: 'users', group: SERVER },
    { path: '/settings', tab: defineMessage('Settings'), icon: 'settings', group: SERVER },
  ],
  soleOwnerForms: ['/members', '/settings/remove'],
} as const satisfies Area<Text>;

/** The path of a page of a server with a tab. */
export type ServerTab = Extract<(typeof SERVER_AREA.pages)[number], { tab: Text }>['path'];

/** The other pages of the dashboard, for every user. Forms check what belongs to the user. */
export const DASHBOARD_AREA = {
  path: '/dashboard',
  access: 'user',
  pages: [{ path: '' }, { path: '/servers/new' }, { path: '/drafts/:draftId' }],
} as const satisfies Area<Text>;
