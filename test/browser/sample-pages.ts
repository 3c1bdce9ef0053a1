import type { ObjectId } from 'mongodb';
import { ADMIN_AREA } from '../../src/site/admin/admin-pages.ts';
import type { Area } from '../../src/site/shared/area.ts';
import { DASHBOARD_AREA, SERVER_AREA } from '../../src/site/shared/dashboard-pages.ts';
import { withIds } from '../support/with-ids.ts';
import type { SampleListing } from './sample-listing.ts';

export type PageOf = SampleListing;
export type Reader = 'stranger' | 'owner' | 'operator';

/** A page of the site, and the user who reads it. */
export type SamplePage = {
  route: string;
  /** A name, if the route has several entries. */
  name?: string;
  reader: Reader;
  path(of: PageOf): string;
  /** The expected status; 200 by default. */
  status?: number;
};

const fixed = (reader: Reader, ...routes: string[]): SamplePage[] =>
  routes.map((route) => ({ route, reader, path: () => route }));

const server = (id: ObjectId, part = '') => `/dashboard/servers/${id.toHexString()}${part}`;

/** The ids of the sample data, by the names of the parameters in routes. */
export function sampleIds(of: PageOf): Record<string, string> {
  return {
    serverId: of.harbour.toHexString(),
    draftId: of.draftId.toHexString(),
    userId: of.ownerId.toHexString(),
    listenerId: of.listenerId.toHexString(),
    subscriptionId: of.subscriptionId.toHexString(),
    voteId: of.voteId.toString(),
    slug: of.slugs.harbour,
  };
}

/** The pages of an area. A file, a redirect and the like is no page. */
function pagesOf({ path: above, pages }: Area, reader: Reader): SamplePage[] {
  return pages
    .filter(({ kind }) => kind === undefined)
    .map(({ path, example = '' }) => ({
      route: `${above}${path}`,
      reader,
      path: (of) => withIds(`${above}${path}${example}`, sampleIds(of)),
    }));
}

/** One page for each route, filled with data. Those of an area come from its table. */
export const PAGES: SamplePage[] = [
  ...fixed('stranger', '/', '/games', '/tags', '/how-ranking-works', '/styleguide'),
  ...fixed('stranger', '/contact', '/imprint', '/privacy', '/terms', '/reminders', '/offline'),
  { route: '/reminders/stop-mail/:token', reader: 'stranger', path: () => '/reminders/stop-mail/a-token' },
  ...fixed('stranger', '/sign-in', '/sign-up', '/forgot-password'),
  ...fixed('stranger', '/sign-in/code'),
  // The page of a setup link exists only on a site without an operator: see setup.browser.test.ts.
  { route: '/setup', reader: 'stranger', path: () => '/setup', status: 404 },
  { route: '/set-password', reader: 'stranger', path: ({ passwordPath }) => passwordPath },
  { route: '/games/:game', reader: 'stranger', path: () => '/games/minecraft' },
  { route: '/tags/:tag', reader: 'stranger', path: () => '/tags/survival' },
  { route: '/servers/:slug', reader: 'stranger', path: ({ slugs }) => `/servers/${slugs.harbour}` },
  {
    route: '/servers/:slug/widget',
    reader: 'stranger',
    path: ({ slugs }) => `/servers/${slugs.harbour}/widget`,
  },
  {
    route: '/servers/:slug/report',
    reader: 'stranger',
    path: ({ slugs }) => `/servers/${slugs.harbour}/report`,
  },
  { route: '/servers/:slug/vote', reader: 'stranger', path: ({ slugs }) => `/servers/${slugs.harbour}/vote` },
  {
    route: '/servers/:slug/vote/:voteId',
    reader: 'stranger',
    path: ({ slugs, voteId }) => `/servers/${slugs.harbour}/vote/${voteId}`,
  },
  // These links exist only if the listing sends mail.
  { route: '/verify-email', reader: 'stranger', path: () => '/verify-email', status: 400 },
  { route: '/confirm-address', reader: 'stranger', path: () => '/confirm-address', status: 400 },
  { route: '/keep-account', reader: 'stranger', path: () => '/keep-account', status: 400 },
  ...fixed(
    'owner',
    '/account',
    '/account/email',
    '/account/delete',
    '/account/reviews',
    '/favourites',
    '/account/two-factor',
  ),
  {
    route: '/favourites/:serverId',
    reader: 'owner',
    path: ({ harbour }) => `/favourites/${harbour.toHexString()}`,
  },
  ...pagesOf(DASHBOARD_AREA, 'owner'),
  ...pagesOf(SERVER_AREA, 'owner'),
  ...pagesOf(ADMIN_AREA, 'operator'),
];

const named = (name: string, path: SamplePage['path'], more: Partial<SamplePage> = {}): SamplePage => ({
  route: name,
  name,
  reader: 'owner',
  path,
  ...more,
});

const forStrangers = (name: string, path: string, more: Partial<SamplePage> = {}): SamplePage =>
  named(name, () => path, { reader: 'stranger', ...more });

/** Further states of pages. */
export const STATES: SamplePage[] = [
  forStrangers('the ranking of one game', '/games/minecraft?online=yes'),
  ...['players', 'newest', 'rating', 'uptime'].map((sort) =>
    forStrangers(`servers by ${sort}`, `/?sort=${sort}`),
  ),
  forStrangers('a search', '/?q=harbor+ligths'),
  forStrangers('a search that finds nothing', '/?q=zzzz&game=minecraft'),
  forStrangers('a page that the ranking does not have', '/?page=99', { status: 404 }),
  forStrangers('a server’s rank', '/how-ranking-works?server=harbour-lights'),
  forStrangers('servers with similar names', '/how-ranking-works?server=harbur'),
  forStrangers('nothing for a stranger', '/nothing', { status: 404 }),
  named('the ranking for somebody who is signed in', () => '/'),
  ...['', '/tokens', '/statistics', '/deliveries', '/reviews', '/listener', '/events', '/votes'].map((part) =>
    named(`a server with nothing in it: ${part || 'overview'}`, ({ quiet }) => server(quiet, part)),
  ),
  ...['', '/listener', '/votes', '/settings'].map((part) =>
    named(`a very long name and a listener that is away: ${part || 'overview'}`, ({ long }) =>
      server(long, part),
    ),
  ),
  ...['', '/listener', '/votes'].map((part) =>
    named(`a name from right to left and a paused listener: ${part || 'overview'}`, ({ rightToLeft }) =>
      server(rightToLeft, part),
    ),
  ),
  ...(['quiet', 'long', 'rightToLeft'] as const).map((which) =>
    named(`the public page of a server: ${which}`, ({ slugs }) => `/servers/${slugs[which]}`, {
      reader: 'stranger',
    }),
  ),
  ...['30d', 'all'].map((range) =>
    named(
      `the public page of a server, ${range}`,
      ({ slugs }) => `/servers/${slugs.harbour}?players=${range}`,
      {
        reader: 'stranger',
      },
    ),
  ),
  named('the public page of an owner’s server', ({ slugs }) => `/servers/${slugs.harbour}`),
  named('a server’s page and a form to review it', ({ slugs }) => `/servers/${slugs.harbour}`, {
    reader: 'operator',
  }),
  named('reviews past the last page', ({ slugs }) => `/servers/${slugs.harbour}?reviews=9`, {
    reader: 'stranger',
  }),
  named('a server that is not listed', () => '/servers/nobody', { reader: 'stranger', status: 404 }),
  named('statistics of 90 days', ({ harbour }) => server(harbour, '/statistics?days=90')),
  named('failed votes', ({ harbour }) => server(harbour, '/votes?state=failed')),
  ...['held', 'reviews', 'reports', 'listeners', 'servers', 'figures', 'jobs'].map((tab) =>
    named(`the admin area’s inbox: ${tab}`, () => `/operator?tab=${tab}`, { reader: 'operator' }),
  ),
  named('decided reviews', () => '/operator/reviews?state=approved', { reader: 'operator' }),
  named(
    'the admin area’s page of a very long name',
    ({ long }) => `/operator/servers/${long.toHexString()}`,
    {
      reader: 'operator',
    },
  ),
  named('an account with a new address and a deletion', () => '/account', { reader: 'operator' }),
  named('the deletion of an account that is requested', () => '/account/delete', { reader: 'operator' }),
  named('favourites of a user who has none', () => '/favourites', { reader: 'operator' }),
  named('reviews of a user who has none', () => '/account/reviews', { reader: 'operator' }),
  named('an address to confirm at the old end', () => '/confirm-address?token=old', { reader: 'stranger' }),
  named('an address to confirm at the new end', () => '/confirm-address?token=new', { reader: 'stranger' }),
  named('a deletion to cancel', () => '/keep-account?token=keep', { reader: 'stranger' }),
  named('a page that is not there', () => '/dashboard/nothing', { status: 404 }),
];
