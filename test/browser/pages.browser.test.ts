import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { setAnnouncement } from '../../src/moderation/announcements.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { fillListing } from './sample-listing.ts';
import { PAGES, type PageOf, type Reader, STATES } from './sample-pages.ts';
import { signIn } from './steps.ts';
import { chromium, launchBrowser, openTab, type Tab } from './tab.ts';

/**
 * The windows in which each page is checked: theme, size and language. German is checked on the phone, because its
 * words are longer.
 */
const WINDOWS = [
  { colorScheme: 'light', viewport: { width: 1200, height: 800 }, language: 'en' },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 }, language: 'de' },
] as const;

describe.skipIf(!chromium)('the pages, with much in them and with nothing', () => {
  let site: RunningSite;
  let of: PageOf;
  let tabs: Record<Reader, Tab>;

  beforeAll(async () => {
    site = await startSite({ OPERATOR_TWO_FACTOR: 'optional' });
    const filled = await fillListing(site.deps);
    atTheEnd(filled.close);
    of = filled.listing;
    const text = '# We move\n\nOn **Sunday**: [the news](https://example.org/news)\n\n- `votes` go on';
    await setAnnouncement(site.deps, { text, level: 'warning', until: null }, 'cli');
    const browser = await launchBrowser();
    tabs = {
      stranger: await openTab(browser, site.url),
      owner: await signedIn(browser, of.users.owner),
      operator: await signedIn(browser, of.users.operator),
    };
    for (const tab of Object.values(tabs)) await tab.checkEachPage();
  });

  async function signedIn(browser: Browser, { email, password }: { email: string; password: string }) {
    const tab = await openTab(browser, site.url);
    await signIn(tab, email, password);
    return tab;
  }

  test.each(
    [...PAGES, ...STATES].map((one) => [one.name ?? one.route, one] as const),
  )('%s in the light on a wide page, and in German and the dark on a phone: anybody can use it, and it is small, as wide as its window and all ours', async (_name, one) => {
    const { page, check } = tabs[one.reader];
    const path = one.path(of);
    for (const { colorScheme, viewport, language } of WINDOWS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      // The admin area is only in English.
      if (language === 'en' || !path.startsWith('/operator')) {
        const answer = await page.goto(`${site.url}${path}${path.includes('?') ? '&' : '?'}lang=${language}`);
        expect(answer?.status(), path).toBe(one.status ?? 200);
        expect(new URL(page.url()).pathname, path).toBe(path.replace(/\?.*/, ''));
        await page.getByRole('heading', { level: 1 }).first().waitFor();
      }
      await check(language === 'en' ? 'all' : 'variant');
    }
  });

  test('on a phone, tables of charts and the second factor’s secret are whole, and each navigation takes one line', async () => {
    const { page, check } = tabs.owner;
    await page.setViewportSize({ width: 390, height: 844 });
    const cut = () =>
      page.evaluate(
        `[...document.querySelectorAll('.chart-numbers, .copyable pre')].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)`,
      );
    const statistics = PAGES.find(({ route }) => route === '/servers/:slug')?.path(of);
    await page.goto(`${site.url}${statistics}`);
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
    expect(await page.locator('.chart-numbers table').count()).toBeGreaterThan(2);
    expect(await cut()).toEqual([]);
    await check();

    await page.goto(`${site.url}/account/two-factor`);
    await page.getByLabel('Your password').fill(of.users.owner.password);
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByLabel('Secret').first().waitFor();
    expect(await cut()).toEqual([]);

    const admin = tabs.operator.page;
    await admin.setViewportSize({ width: 390, height: 844 });
    await admin.goto(`${site.url}/operator/audit`);
    const heights = await admin.evaluate<number[]>(
      `[...document.querySelectorAll('.site-head nav, .tabs')].map((one) => one.clientHeight)`,
    );
    expect(heights).toHaveLength(2);
    expect(Math.max(...heights)).toBeLessThan(60);
    // The tab of the current page is in view.
    const tab = await admin.locator('.tabs [aria-current]').boundingBox();
    expect((tab?.x ?? 999) + (tab?.width ?? 0)).toBeLessThan(390);
  });
});
