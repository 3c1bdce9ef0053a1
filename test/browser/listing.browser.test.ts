import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { listServers } from '../support/servers.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { chromium, DARK_PHONE, launchBrowser, openTab } from './tab.ts';

describe.skipIf(!chromium)('a visitor looks for a server', () => {
  let site: RunningSite;
  let browser: Browser;

  beforeAll(async () => {
    site = await startSite();
    const many = Array.from({ length: 43 }, (_, i) => ({
      name: `Alpha ${i}`,
      game: i % 2 ? 'rust' : 'minecraft',
      countryCode: 'US',
      votes: 900 - i,
    }));
    const long =
      'The Extraordinarily Long-Named Kingdom of Northern Harbours and Lesser Islands, Season 12 Hardcore';
    await listServers(site.deps, [
      {
        name: long,
        game: 'gta5f',
        countryCode: 'VC',
        online: 2_000_000,
        max: 2_000_000,
        votes: 9_999_999,
        isPremium: true,
      },
      ...many,
      { name: 'Mystic Realms', game: 'rust', countryCode: 'DE', online: 12, version: 'x'.repeat(100) },
      { name: 'مملكة البحر والجزر', game: 'minecraft' },
      { name: 'Łódź Kağıt Őr', game: 'valheim' },
    ]);
    browser = await launchBrowser();
  });

  test.each([
    ['with JavaScript', {}],
    ['without JavaScript', { javaScriptEnabled: false }],
    ['on a phone, in the dark', { ...DARK_PHONE, rules: 'variant' as const }],
  ])('by filters, by a misspelt name and page by page, %s', async (_how, options) => {
    const { page, open, check } = await openTab(browser, site.url, options);
    const rows = page.locator('.server');
    await open('/');
    await check();
    expect(await rows.count()).toBe(20);

    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByText('Page 2 of 3').waitFor();

    // On a phone the filters are in a sheet, which opens without a script too.
    const sheet = page.getByRole('button', { name: 'Filters' });
    const openFilters = async () => (await sheet.isVisible()) && sheet.click();
    await openFilters();
    await page.getByLabel('Game', { exact: true }).selectOption('rust');
    await page.getByLabel('Country').selectOption('DE');
    await page.getByLabel('Online now').check();
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('heading', { name: 'Online Rust servers in Germany' }).waitFor();
    expect(page.url()).toMatch(/\/games\/rust\?country=DE&online=yes$/);
    expect(await rows.allTextContents()).toHaveLength(1);
    await check();

    await page.getByRole('link', { name: 'Remove the filter Germany' }).click();
    await page.getByRole('heading', { name: 'Online Rust servers' }).waitFor();
    await openFilters();
    expect(await page.getByLabel('Online now').isChecked()).toBe(true);

    await open('/');
    await page.getByLabel('Search servers').fill('mistic relms');
    await page.getByLabel('Search servers').press('Enter');
    await page.getByRole('heading', { name: 'Search: “mistic relms”' }).waitFor();
    expect(await rows.first().getByRole('heading').textContent()).toBe('Mystic Realms');

    await page.getByRole('link', { name: 'How the ranking works' }).first().click();
    await page.getByRole('searchbox', { name: 'Server' }).fill('mystic-realms');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('has rank').waitFor();
  });

  test('works with the keyboard only', async () => {
    const { page, open } = await openTab(browser, site.url);
    const press = (key: string) => page.keyboard.press(key);
    const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.name');
    await open('/');
    await press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await press('Enter');
    // Tab moves to the search, and from the last order to the filters in their order.
    await press('Tab');
    expect(await page.evaluate('document.activeElement.name')).toBe('q');
    await page.getByRole('link', { name: 'Uptime' }).focus();
    for (const field of ['game', 'tag', 'country', 'online']) {
      await press('Tab');
      expect(await page.evaluate('document.activeElement.name')).toBe(field);
    }
    await press('Space');
    await press('Tab');
    await press('Enter');
    await page.getByRole('heading', { name: 'Online servers' }).waitFor();
    expect(new URL(page.url()).search).toBe('?online=yes');
    // Moves the focus to the link that removes the filter, and follows it.
    await page.getByRole('link', { name: 'Remove the filter online now' }).focus();
    await press('Enter');
    await page.getByRole('heading', { name: 'Find a server worth coming back to.' }).waitFor();
  });

  test.each([
    ['remembered with JavaScript', {}, true],
    ['for the visit without JavaScript', { javaScriptEnabled: false }, false],
  ])('the compact list is one press away, %s', async (_how, options, isRemembered) => {
    const { page, open, check } = await openTab(browser, site.url, options);
    const banner = page.locator('.server .banner').first();
    await open('/');
    expect(await banner.isVisible()).toBe(true);
    await page.getByLabel('Compact list').check();
    expect(await banner.isVisible()).toBe(false);
    await check();
    await open('/games/rust');
    expect(await banner.isVisible()).toBe(!isRemembered);
  });

  test('no name is crushed at any width, and a list never scrolls sideways', async () => {
    const { page, open } = await openTab(browser, site.url);
    await open('/?page=2');
    for (const width of [320, 681, 768, 950, 1_280]) {
      await page.setViewportSize({ width, height: 800 });
      const narrowest = `Math.min(...[...document.querySelectorAll('.server .name')].map((one) => one.clientWidth))`;
      expect(await page.evaluate<number>(narrowest), String(width)).toBeGreaterThan(170);
      expect(await page.evaluate('document.documentElement.scrollWidth'), String(width)).toBe(width);
    }
  });

  test('all Latin letters are in the display face, whose second file is loaded only for a page that needs it', async () => {
    const { page, open } = await openTab(browser, site.url);
    const loaded = () =>
      page.evaluate<number>(
        `document.fonts.ready.then((all) => [...all].filter(({ status }) => status === 'loaded').length)`,
      );
    await open('/how-ranking-works');
    await expect.poll(loaded).toBe(1);
    await open('/games/valheim');
    await expect.poll(loaded).toBe(2);
  });

  test('a missing page offers a search', async () => {
    const { page, open } = await openTab(browser, site.url);
    await open('/misterious');
    await page.getByLabel('Find a server').fill('mystic realm');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('link', { name: 'Mystic Realms', exact: true }).waitFor();
  });
});
