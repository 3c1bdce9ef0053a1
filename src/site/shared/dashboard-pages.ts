import { defineMessage, type Text } from '../../language/t.ts';
import type { Area } from './area.ts';

export const SERVER_AREA = {
  path: '/dashboard/servers/:serverId',
  access: 'owner',
  pages: [
    { path: '', tab: defineMessage('Overview') },
    { path: '/profile', tab: defineMessage('Profile') },
    { path: '/votes', tab: defineMessage('Votes') },
    { path: '/votes/resend' },
    { path: '/votes/:voteId' },
    { path: '/connect', tab: defineMessage('Connect') },
    { path: '/connect/key', kind: 'redirect' },
    { path: '/connect/relay', kind: 'redirect' },
    { path: '/connect/check', kind: 'redirect' },
    { path: '/listener', tab: defineMessage('Vote listener') },
    { path: '/listener/test', kind: 'redirect' },
    { path: '/deliveries', tab: defineMessage('Delivery') },
    { path: '/deliveries/:table', kind: 'file' },
    { path: '/tokens', tab: defineMessage('API access') },
    { path: '/statistics', tab: defineMessage('Statistics') },
    { path: '/statistics/:table', kind: 'file' },
    { path: '/reviews', tab: defineMessage('Reviews') },
    { path: '/members', tab: defineMessage('Members') },
    { path: '/settings', tab: defineMessage('Settings') },
  ],
  soleOwnerForms: ['/members', '/settings/remove'],
} as const satisfies Area<Text>;

export type ServerTab = Extract<(typeof SERVER_AREA.pages)[number], { tab: Text }>['path'];

/** For every user. Forms check what belongs to the user. */
export const DASHBOARD_AREA = {
  path: '/dashboard',
  access: 'user',
  pages: [{ path: '' }, { path: '/servers/new' }, { path: '/drafts/:draftId' }],
} as const satisfies Area<Text>;
