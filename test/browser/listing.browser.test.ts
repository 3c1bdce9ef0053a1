import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { listServers } from '../support/servers.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { chromium, launchBrowser, openTab } from './tab.ts';

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
    ]);
    browser = await launchBrowser();
  });

  test.each([
    ['with JavaScript', {}],
    ['without JavaScript', { javaScriptEnabled: false }],
    [
      'on a phone, in the dark',
      { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const, rules: 'variant' as const },
    ],
  ])('by filters, by a misspelt name and page by page, %s', async (_how, options) => {
    const { page, open, check } = await openTab(browser, site.url, options);
    const rows = page.locator('table.data tbody tr');
    await open('/');
    await check();
    expect(await rows.count()).toBe(20);

    await page.getByRole('link', { name: 'Lower ranks' }).click();
    await page.getByText('Page 2 of 3').waitFor();
    await check();

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
    expect(await page.getByLabel('Online now').isChecked()).toBe(true);

    await page.getByRole('link', { name: 'All servers' }).click();
    await page.getByLabel('Search', { exact: true }).fill('mistic relms');
    await page.getByLabel('Search', { exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'Search' }).waitFor();
    expect(await rows.first().getByRole('link').textContent()).toBe('Mystic Realms');
    await check();

    await page.getByRole('link', { name: 'How the ranking works' }).first().click();
    await page.getByRole('searchbox', { name: 'Server' }).fill('mystic-realms');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('has rank').waitFor();
    await check();
  });

  test('works with the keyboard only', async () => {
    const { page, open } = await openTab(browser, site.url);
    const press = (key: string) => page.keyboard.press(key);
    const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.name');
    await open('/');
    await press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await press('Enter');
    // Tab moves to the link to the formula, then to the form's fields in their order.
    await press('Tab');
    for (const field of ['q', 'game', 'tag', 'country', 'online']) {
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
    await page.getByRole('heading', { name: 'Game servers' }).waitFor();
  });

  test('a missing page offers a search', async () => {
    const { page, open, check } = await openTab(browser, site.url);
    await open('/misterious');
    await check();
    await page.getByLabel('Find a server').fill('mystic realm');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('link', { name: 'Mystic Realms' }).waitFor();
  });
});
