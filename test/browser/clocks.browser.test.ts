import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { chromium, launchBrowser, openTab } from './tab.ts';
import { listWithListener } from './vote-steps.ts';

const HOUR_MS = 3_600_000;

/** The site's pages are given the time that it will be after these hours. */
const laterAtTheSite = (page: Page, hours: number) =>
  page.route(/\/time$/, (route) => route.fulfill({ body: String(Date.now() + hours * HOUR_MS) }));

describe.skipIf(!chromium)('on a device with a wrong clock', () => {
  let site: RunningSite;
  let browser: Browser;

  beforeAll(async () => {
    site = await startSite();
    browser = await launchBrowser();
  });

  test.each([
    ['six hours behind', -6],
    ['six hours ahead', 6],
    ['three days behind', -72],
    ['three days ahead', 72],
  ])('%s, a player sees the time that is left, and what is due, as on any other', async (name, hours) => {
    const first = await listWithListener(site, `First ${name}`);
    const second = await listWithListener(site, `Second ${name}`);
    await recomputeRanks(site.deps);
    const { page, open, check } = await openTab(browser, site.url);
    await page.clock.install({ time: Date.now() + hours * HOUR_MS });
    const left = page.locator('.panel.next [data-left]');
    const vote = async ({ slug }: { slug: string }) => {
      await open(`/servers/${slug}/vote`);
      await page.getByLabel('Your player name').fill(`Nora${hours}`);
      await page.getByRole('button', { name: 'Vote' }).click();
      await page.getByRole('heading', { name: `Your vote counts, Nora${hours}.` }).waitFor();
      // The server's HTML has the right time as well; the scripts have run when the seconds change.
      const inHtml = await left.textContent();
      await expect.poll(() => left.textContent()).not.toBe(inHtml);
      expect(await left.textContent()).toMatch(/^2[34]:/);
      expect(await page.locator('.panel.next .due').isVisible()).toBe(false);
    };
    await vote(first);
    await vote(second);
    const others = page.locator('.due-list .wait');
    await expect.poll(() => others.textContent()).toMatch(/^in 2[34] hours$/);
    await check();

    await open(`/servers/${first.slug}`);
    await page.getByText(/You voted here; next vote in 2[34]:\d\d hours\./).waitFor();
    expect(await page.locator('form[data-vote]').isVisible()).toBe(false);
    await open(`/servers/${first.slug}/vote`);
    await page.getByRole('heading', { name: `Nora${hours} has voted for` }).waitFor();
    await open('/');
    const link = page.locator('.servers a.vote').filter({ hasText: first.name });
    await expect.poll(() => link.textContent()).toBe(`Voted today ${first.name}`);
    expect(await page.locator('.due-now').isVisible()).toBe(false);
    await check();

    // A day later by the site's time.
    await laterAtTheSite(page, 25);
    await open('/');
    await page.locator('.due-now').getByRole('link', { name: first.name }).waitFor();
    await expect.poll(() => link.textContent()).toBe(`Vote ${first.name}`);
    await open(`/servers/${first.slug}`);
    await page.locator('form[data-vote]').waitFor();
  });

  test('a clock that is set right afterwards changes nothing', async () => {
    const server = await listWithListener(site, 'Set right');
    const { page, open } = await openTab(browser, site.url);
    await page.clock.install({ time: Date.now() + 72 * HOUR_MS });
    await open(`/servers/${server.slug}/vote`);
    await page.getByLabel('Your player name').fill('Otto');
    await page.getByRole('button', { name: 'Vote' }).click();
    await page.getByRole('heading', { name: 'Your vote counts, Otto.' }).waitFor();
    await expect.poll(() => page.evaluate(() => localStorage.getItem('clock-lacks'))).toMatch(/^-259\d{6}$/);
    await page.clock.setSystemTime(Date.now());
    await open(`/servers/${server.slug}`);
    await expect.poll(() => page.evaluate(() => localStorage.getItem('clock-lacks'))).toMatch(/^-?\d{1,4}$/);
    await page.getByText(/You voted here; next vote in 2[34]:\d\d hours\./).waitFor();
  });
});
