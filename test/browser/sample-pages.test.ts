import { expect, test } from 'vitest';
import type { Area } from '../../src/site/shared/area.ts';
import { AREAS } from '../../src/site/site.ts';
import { openWebApp, type WebApp } from '../support/web-app.ts';
import { PAGES } from './sample-pages.ts';

/** Routes without a page. */
const NO_PAGES = [
  ...AREAS.flatMap(({ path, pages }: Area) =>
    pages.filter(({ kind }) => kind && kind !== 'plugin').map((page) => `GET ${path}${page.path}`),
  ),
  'GET /time', // a number
  'GET /manifest.webmanifest', // a file
  'GET /app-icon.svg', // an image
  'GET /service-worker.js', // a script
  'GET /robots.txt', // a file
  'GET /feed.atom', // a feed
  'GET /games/:game/feed.atom', // a feed
  'GET /sitemap.xml', // a file
  'GET /sitemaps/:file', // a file
  'GET /language/:language', // a redirect
  'GET /api/auth/callback/discord', // a redirect
  'GET /api/auth/callback/oidc', // a redirect
  'GET /servers/:slug/vote/steam', // a redirect
  'GET /servers/:slug/vote/steam/return', // a redirect
  'GET /downloads/tallyport-relay.jar', // a file
  'GET /pictures/:file', // an image
  'GET /servers', // a redirect
  'GET /servers/random', // a redirect
  'GET /servers/:slug/review', // a redirect
  'GET /servers/:slug/banner.svg', // an image
  'GET /servers/:slug/banner.png', // an image
  'GET /servers/:slug/badge.svg', // an image
  'GET /servers/:slug/card.png', // an image
  'GET /servers/:slug/vote/reminder.ics', // a file
];

/** All GET routes of the site. */
async function routesOf({ app }: WebApp): Promise<string[]> {
  await app.ready();
  return app.site.routes
    .filter(({ method }) => method === 'GET')
    .map(({ url }) => `GET ${url.replace(/(.)\/$/, '$1')}`)
    .filter((name) => !/^GET \/(assets|operator\/queues)/.test(name));
}

test('every page of the site is visited in a browser', async () => {
  const found = await routesOf(await openWebApp());
  expect([...new Set([...PAGES.map(({ route }) => `GET ${route}`), ...NO_PAGES])].toSorted()).toEqual(
    [...new Set(found)].toSorted(),
  );
});
