import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { type RunningSite, startSite } from './running-site.ts';
import { chromium, launchBrowser, openTab } from './tab.ts';

describe.skipIf(!chromium)('accounts in a browser', () => {
  let site: RunningSite;
  let browser: Browser;

  beforeAll(async () => {
    site = await startSite();
    browser = await launchBrowser();
  });

  test.each([
    ['with a script', {}],
    ['without JavaScript', { javaScriptEnabled: false }],
    ['on a phone', { viewport: { width: 390, height: 844 } }],
    ['in the dark', { colorScheme: 'dark' as const }],
  ])('somebody signs up, out and in again, %s', async (how, options) => {
    const email = `${how.replaceAll(' ', '-')}@example.org`;
    const { page, open, check } = await openTab(browser, site.url, options);
    await open('/');
    await check();
    await page.getByRole('link', { name: 'Sign up', exact: true }).first().click();
    await check();
    await page.getByLabel('Your name').fill('Ada Owner');
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill('three ships in the bay');
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByRole('heading', { name: 'Your servers' }).waitFor();
    await check();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill('two ships in the bay');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Wrong e-mail address or password.').waitFor();
    await check();
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(email);
    await page.getByLabel('Password').fill('three ships in the bay');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Your servers' }).waitFor();
  });
});
