import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { watchReadiness } from '../../src/health.ts';
import { createMetrics } from '../../src/metrics.ts';
import { lasting } from '../support/at-the-end.ts';
import { type House, openHouse } from './house.ts';
import { fillListing } from './sample-listing.ts';
import { PAGES, type PageOf, type Reader, STATES } from './sample-pages.ts';
import { signIn } from './steps.ts';
import { browserPath, launch, type Visit, visit } from './visit.ts';

const chromium = browserPath();

/** Routes that give no page of their own. */
const NO_PAGES = [
  'GET /robots.txt', // a file
  'GET /sitemap.xml', // a file
  'GET /sitemaps/:file', // a file
  'GET /dashboard/servers/:serverId/listener/test', // leads on
  'GET /dashboard/servers/:serverId/statistics/:table', // a file
  'GET /operator/votes/exclusions', // a part of a page
  'GET /servers', // leads on
  'GET /servers/:slug/review', // leads on
  'GET /servers/:slug/banner.svg', // an image
  'GET /servers/:slug/badge.svg', // an image
];

const READERS = ['stranger', 'owner', 'operator'] as const;

const WINDOWS: [string, BrowserContextOptions][] = [
  ['in the light, on a desk', { colorScheme: 'light', viewport: { width: 1200, height: 800 } }],
  ['in the dark, on a phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
];

type Filled = { house: House; close(): Promise<void>; of: PageOf };

async function openFilled(): Promise<Filled> {
  const { opened, close } = await lasting(() => openHouse({ OPERATOR_TWO_FACTOR: 'optional' }));
  try {
    const filled = await fillListing(opened.platform);
    const closeAll = async () => {
      await filled.close();
      await close();
    };
    return { house: opened, close: closeAll, of: filled.listing };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What the site has to show: every route that answers a GET. */
async function routesOf({ platform }: House): Promise<string[]> {
  const stopping = new AbortController().signal;
  const readiness = watchReadiness(platform, stopping);
  const app = await buildApp(platform, { metrics: createMetrics(platform), readiness, stopping });
  await app.ready();
  const routes = app.site.routes
    .filter(({ method }) => method === 'GET')
    .map(({ url }) => `GET ${url.replace(/(.)\/$/, '$1')}`);
  await app.close();
  return routes.filter((name) => !/^GET \/(assets|operator\/queues)/.test(name));
}

describe.skipIf(!chromium)('the pages, with much in them and with nothing', () => {
  let filled: Filled;
  let browser: Browser;
  let closeVisits: () => Promise<void>;
  const visits: Partial<Record<string, Visit>> = {};

  beforeAll(async () => {
    filled = await openFilled();
    browser = await launch(chromium ?? '');
    const { url } = filled.house;
    const { close } = await lasting(async () => {
      for (const [how, options] of WINDOWS) {
        for (const reader of READERS) {
          const visitor = await visit(browser, url, options);
          visits[`${reader} ${how}`] = visitor;
          if (reader === 'stranger') continue;
          const { email, password } = filled.of.people[reader];
          await signIn(visitor, email, password);
        }
      }
    });
    closeVisits = close;
  });
  afterAll(async () => {
    await closeVisits?.();
    await browser?.close();
    await filled?.close();
  });

  test('every page of the site is visited here', async () => {
    const found = await routesOf(filled.house);
    expect([...new Set([...PAGES.map(({ route }) => `GET ${route}`), ...NO_PAGES])].toSorted()).toEqual(
      [...new Set(found)].toSorted(),
    );
  });

  const look = async (how: string, reader: Reader, path: string, status: number) => {
    const { page, check } = visits[`${reader} ${how}`] as Visit;
    const answer = await page.goto(`${filled.house.url}${path}`);
    expect(answer?.status(), path).toBe(status);
    expect(new URL(page.url()).pathname, path).toBe(path.replace(/\?.*/, ''));
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await check();
  };

  for (const [how] of WINDOWS) {
    test.each(
      [...PAGES, ...STATES].map((one) => [one.name ?? one.route, one] as const),
    )(`%s ${how}: anybody can use it, and it is small, as wide as its window and all ours`, async (_name, one) => {
      await look(how, one.reader, one.path(filled.of), one.status ?? 200);
    });
  }
});
