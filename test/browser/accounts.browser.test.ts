import { ObjectId } from 'mongodb';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { after, DAY } from '../../src/platform/clock.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { PASSWORD } from '../support/sign-in.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { signUp } from './steps.ts';
import { chromium, launchBrowser, openTab } from './tab.ts';

describe.skipIf(!chromium)('accounts in a browser', () => {
  let site: RunningSite;
  let browser: Browser;

  beforeAll(async () => {
    // Each test signs up from the same address, for which half of this limit holds.
    site = await startSite({ SIGN_UPS_PER_NETWORK: '20' });
    browser = await launchBrowser();
  });

  test.each([
    ['with a script', {}],
    ['without JavaScript', { javaScriptEnabled: false }],
  ])('somebody signs up, out and in again, %s', async (how, options) => {
    const email = `${how.replaceAll(' ', '-')}@example.org`;
    const { page, open, checkInBothWindows } = await openTab(browser, site.url, options);
    await open('/');
    await page.getByRole('link', { name: 'Sign in', exact: true }).click();
    await page.getByRole('link', { name: 'Sign up', exact: true }).first().click();
    await page.getByLabel('Your name').fill('Ada Owner');
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill('three ships in the bay');
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByRole('heading', { name: 'Your servers' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill('two ships in the bay');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Wrong e-mail address or password.').waitFor();
    await checkInBothWindows();
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(email);
    await page.getByLabel('Password').fill('three ships in the bay');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Your servers' }).waitFor();
  });

  test('a visitor who presses a star signs up and has the favourite; the switch says whether the colours are dark', async () => {
    await addOwnedServer(site.deps, new ObjectId(), { name: 'Beta Craft', address: 'beta.example.org' });
    const { page, open, check } = await openTab(browser, site.url, { viewport: { width: 320, height: 640 } });
    await open('/servers/beta-craft');
    const isDark = (pressed: boolean) =>
      page.getByRole('button', { name: 'Dark colours', pressed }).waitFor();
    await isDark(false);
    await page.getByRole('button', { name: 'Dark colours' }).click();
    await isDark(true);
    for (const name of ['Servers', 'Games', 'Sign in'])
      await expect.poll(() => page.locator('.site-head').getByRole('link', { name }).isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Add to your favourites: Beta Craft' }).click();
    await isDark(true);
    await check();
    await page.getByLabel('Your name').fill('Pia Player');
    await page.getByLabel('E-mail address').fill('pia@example.org');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByText('The server is now among your favourites.').waitFor();
    await page.getByRole('link', { name: 'Beta Craft', exact: true }).waitFor();
    await check();
  });

  test('without JavaScript, a user stars a server, votes, sees the next vote, and asks to delete the account', async () => {
    const { deps } = site;
    await addOwnedServer(deps, new ObjectId(), { name: 'Alpha Craft' });
    await recomputeRanks(deps);
    const tab = await openTab(browser, site.url, { javaScriptEnabled: false });
    const { page, open, check } = tab;
    await signUp(tab, 'star@example.org');
    // The account is 7 days old. A younger one would need a proof of work like a visitor, and so JavaScript.
    const createdAt = after(new Date(), -7 * DAY);
    await deps.users.updateOne({ email: 'star@example.org' }, { $set: { createdAt, emailVerified: true } });
    await open('/');
    await page.getByRole('button', { name: 'Add to your favourites: Alpha Craft' }).click();
    await page.getByRole('button', { name: 'Remove from your favourites: Alpha Craft' }).waitFor();
    await check();
    await open('/servers/alpha-craft');
    await page.getByRole('button', { name: 'Remove from your favourites: Alpha Craft' }).waitFor();
    await page.getByLabel('Your player name').first().fill('Steve');
    await page.getByRole('button', { name: 'Vote', exact: true }).click();
    await page.getByRole('heading', { name: 'Your vote counts, Steve.' }).waitFor();
    await page.getByRole('link', { name: 'Favourites', exact: true }).click();
    await page.getByText('The times are for Steve').waitFor();
    await check();
    await page.getByRole('button', { name: 'Remove from your favourites: Alpha Craft' }).click();
    await page.getByText('You have no favourites yet.').waitFor();

    await open('/account');
    await page.getByRole('link', { name: 'Delete your account' }).click();
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Delete my account in 7 days' }).click();
    await page.getByText('Your account will be deleted on').waitFor();
    await check();
    await page.getByRole('button', { name: 'Keep my account' }).click();
    await page.getByText('Your account will not be deleted.').waitFor();
    await check();
  });
});
