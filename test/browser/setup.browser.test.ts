import { describe, expect, test } from 'vitest';
import { makeSetupLink } from '../../src/accounts/setup.ts';
import { startHeartbeat } from '../../src/process/heartbeat.ts';
import { codeOf } from '../support/authenticator.ts';
import { PASSWORD } from '../support/sign-in.ts';
import { startSite } from './running-site.ts';
import { chromium, DARK_PHONE, launchBrowser, openTab } from './tab.ts';

/** The settings of a site that nobody has set up. */
const NEW = { CONTACT: '', FOOTER_LINKS: '', SITE_PAGES_DIR: '' };

describe.skipIf(!chromium)('setting up a new site in a browser', () => {
  test.each([
    ['with a script', {}],
    ['without JavaScript', { javaScriptEnabled: false }],
    ['on a phone, in German and the dark', { ...DARK_PHONE, locale: 'de-DE', rules: 'variant' as const }],
  ])('from the link to the first server, %s', async (_how, options) => {
    const { deps, url } = await startSite(NEW);
    await startHeartbeat(deps, 'web').beat();
    const { page, open, check } = await openTab(await launchBrowser(), url, options);
    const submit = () => page.locator('main form[method=post] button[type=submit]').first().click();
    const link = await makeSetupLink(deps);

    // A wrong code first: the page says so.
    await open('/setup');
    await check();
    await page.locator('[name=code]').fill('wrong');
    await submit();
    await page.locator('[aria-invalid=true]').waitFor();
    await check();

    await page.goto(link);
    if ('javaScriptEnabled' in options) {
      await page.locator('[name=code]').fill(link);
      await submit();
    }
    await page.locator('[name=password]').waitFor();
    // The code is in no address any more.
    expect(page.url()).toBe(`${url}/setup`);
    await check();
    await page.locator('[name=email]').fill('ada@example.org');
    await page.locator('[name=name]').fill('Ada Operator');
    await page.locator('[name=password]').fill(PASSWORD);
    await submit();

    const secret = await page.locator('main pre code').innerText();
    await check();
    await page.locator('[name=code]').fill(codeOf(secret));
    await submit();
    await page.locator('a[href="/operator/setup"]').waitFor();
    await check();
    await page.locator('a[href="/operator/setup"]').click();

    const steps = page.locator('main ol.set-up > li');
    await expect.poll(() => steps.count()).toBe(7);
    await page.getByRole('link', { name: 'Name the site' }).click();
    await page.getByLabel('Name of the listing').fill('Harbour Votes');
    await page.locator('#site button[type=submit]').first().click();
    await page.getByText('Harbour Votes').first().waitFor();
    await open('/operator');
    await check();
    await page.getByRole('link', { name: 'Go on with the set-up' }).click();
    await page.getByRole('link', { name: 'Look at the checks' }).click();
    await page.getByRole('heading', { name: 'What the site saw' }).waitFor();
    await open('/operator/setup');
    await page.getByRole('button', { name: /^I have looked/ }).click();
    await expect.poll(() => page.locator('ol.set-up > li').filter({ hasText: 'done' }).count()).toBe(2);
    await check();
    await page.locator('main').getByRole('link', { name: 'Add a server' }).click();
    await page.locator('[name=address]').waitFor();

    // A stranger finds nothing at the link's address now.
    const stranger = await openTab(await launchBrowser(), url, options);
    await stranger.page.goto(link);
    await stranger.page.locator('[role=search]').waitFor();
    expect(await stranger.page.locator('[name=code]').count()).toBe(0);
  });
});
