import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { chromium, launchBrowser, openTab, type TabOptions } from './tab.ts';

describe.skipIf(!chromium)('a long form with an error', () => {
  let site: RunningSite;
  let browser: Browser;

  beforeAll(async () => {
    site = await startSite();
    browser = await launchBrowser();
  });

  test.each<[string, TabOptions]>([
    ['on a computer', {}],
    [
      'on a narrow phone with a dark theme',
      { viewport: { width: 320, height: 640 }, colorScheme: 'dark', rules: 'variant' },
    ],
    ['without a script', { javaScriptEnabled: false }],
  ])('shows a summary that has the focus and leads to the field, %s', async (how, options) => {
    const owner = await signIn(site);
    const serverId = await addOwnedServer(site.deps, owner.userId, { name: `Long Form ${how}` });
    const tab = await openTab(browser, site.url, options);
    const { page } = tab;
    await tab.signInHere(owner);
    await tab.open(`/dashboard/servers/${serverId.toHexString()}/profile`);
    await page.getByLabel('Short text').fill('Kept');
    await page.getByLabel('Rules').fill('no address');
    await page.getByRole('button', { name: 'Save', exact: true }).click();

    const summary = page.locator('.error-summary:focus');
    await summary.waitFor();
    expect((await summary.boundingBox())?.y).toBeGreaterThanOrEqual(0);
    await tab.check();
    expect(await page.getByLabel('Short text').inputValue()).toBe('Kept');

    await summary.getByRole('link', { name: /^Rules: / }).click();
    const field = await page.getByLabel('Rules').boundingBox();
    const height = page.viewportSize()?.height ?? 0;
    expect(field?.y).toBeGreaterThanOrEqual(0);
    expect(field?.y).toBeLessThan(height);
  });
});
