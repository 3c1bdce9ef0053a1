import { ObjectId } from 'mongodb';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { writeReview } from '../../src/reviews/write-review.ts';
import { castVote } from '../support/casting.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { picture } from '../support/pictures.ts';
import { signIn } from '../support/sign-in.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { chromium, DARK_PHONE, launchBrowser, openTab, type TabOptions } from './tab.ts';

const WAYS: [string, TabOptions][] = [
  ['without JavaScript', { javaScriptEnabled: false, viewport: { width: 1200, height: 800 } }],
  ['on a phone in the dark', DARK_PHONE],
];

describe.skipIf(!chromium)('what users do besides voting, in a browser', () => {
  let site: RunningSite;
  let browser: Browser;

  beforeAll(async () => {
    site = await startSite({ OPERATOR_TWO_FACTOR: 'optional' });
    browser = await launchBrowser();
  });

  test.each(WAYS)('a visitor changes the language and reports a server, %s', async (how, options) => {
    const name = `Reported ${how}`;
    await addOwnedServer(site.deps, new ObjectId(), { name, address: `${how.length}.example.org` });
    const { slug } = (await site.deps.servers.findOne({ name })) ?? {};
    const { page, open, check } = await openTab(browser, site.url, options);
    await open(`/servers/${slug}`);
    await page.getByRole('link', { name: 'Deutsch' }).click();
    await page.getByRole('link', { name: 'Diesen Server melden' }).click();
    await page.getByLabel('Was stimmt nicht?').selectOption({ label: 'Er betrügt oder schädigt Spieler' });
    await page.getByLabel('Was sollen wir wissen?').fill('Er verkauft Ränge und verschwindet.');
    await page.getByRole('button', { name: 'Meldung senden' }).click();
    await page.getByText('Die Betreiber dieses Verzeichnisses').waitFor();
    await check();
    await page.getByRole('link', { name: 'English' }).click();
    await page.getByRole('link', { name: 'Back to the server' }).waitFor();
  });

  test.each(
    WAYS,
  )('an owner describes a server, invites a member, limits a token and chooses notifications, %s', async (how, options) => {
    const owner = await signIn(site);
    const member = await signIn(site);
    const serverId = await addOwnedServer(site.deps, owner.userId, {
      name: `Described ${how}`,
      address: `described-${how.length}.example.org`,
    });
    const at = (part: string) => `/dashboard/servers/${serverId.toHexString()}${part}`;
    const tab = await openTab(browser, site.url, options);
    const { page, open, check } = tab;
    await tab.signInHere(owner);

    await open(at('/profile'));
    await page.getByLabel('Short text').fill('A calm harbour for builders.');
    await page.getByLabel('Description').fill('# Welcome\n\nNo grief, **ever**.');
    await page.getByLabel('Survival', { exact: true }).check();
    await page.getByLabel('Website').fill('example.org');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Profile saved.').waitFor();
    const banner = await picture(600, 150).png().toBuffer();
    const file = { name: 'banner.png', mimeType: 'image/png', buffer: banner };
    await page
      .getByLabel('Banner', { exact: true })
      .setInputFiles({ ...file, buffer: Buffer.from('no picture') });
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('The file is no PNG, JPEG or WebP picture.', { exact: true }).waitFor();
    // A warm process would encode the banner before the page is seen.
    const encoding = site.deps.queues['encode-pictures'];
    await encoding.pause();
    await page.getByLabel('Banner', { exact: true }).setInputFiles(file);
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('Banner uploaded.').waitFor();
    await page.getByText('The new banner is being prepared. It appears here').waitFor();
    await encoding.resume();
    await expect
      .poll(async () => {
        // Without JavaScript the page does not refresh itself.
        if (options.javaScriptEnabled === false) await page.reload();
        return await page.getByRole('img', { name: /^Banner of/ }).count();
      }, EVENTUALLY)
      .toBe(1);
    await page.getByText('The new banner is being prepared.').waitFor({ state: 'detached' });
    await check();

    await open(at('/members'));
    await page.getByLabel('E-mail address').fill(member.email);
    await page.getByRole('group', { name: 'Role' }).getByLabel('Read only').check();
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByText('Invitation saved.').waitFor();
    await check();

    await open(at('/tokens'));
    await page.getByLabel('Name', { exact: true }).fill('status only');
    await page.getByLabel('Cast and claim votes').uncheck();
    await page.getByLabel('Read votes, figures and reviews').uncheck();
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('heading', { name: 'Your new token' }).waitFor();

    const other = await openTab(browser, site.url, options);
    await other.signInHere(member);
    await other.open('/dashboard');
    await other.page.getByRole('button', { name: /^Accept/ }).click();
    await other.page.getByRole('heading', { name: `Described ${how}` }).waitFor();
    await other.open(at('/settings'));
    await other.page.getByText('You may see this server, but not change it.').waitFor();
    await other.check();
  });

  test.each<[string, TabOptions]>([
    ['without JavaScript', { javaScriptEnabled: false }],
    ['on a narrow phone in the dark', { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }],
  ])('a long form with an error shows a summary that has the focus and leads to the field, %s', async (how, options) => {
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

  test.each(
    WAYS,
  )('an operator announces, approves reviews together, blocks a name and excludes a player, %s', async (how, options) => {
    const { deps } = site;
    const serverId = await addOwnedServer(deps, new ObjectId(), {
      name: `Watched ${how}`,
      address: `watched-${how.length}.example.org`,
    });
    const player = `Bot${how.length}`;
    await castVote(deps, { serverId, username: player, tokenId: new ObjectId() });
    for (const username of ['Steve', 'Alex']) await writeReview(deps, { serverId, username, rating: 5 });
    const tab = await openTab(browser, site.url, options);
    const { page, open, check } = tab;
    await tab.signInHere(await signIn(site, { role: 'operator' }));

    await open('/operator/announcement');
    await page.getByLabel('Text').fill('We move on **Sunday**.');
    await page.getByRole('button', { name: 'Show on all pages' }).click();
    await page.getByRole('strong').getByText('Sunday').first().waitFor();
    await check();
    await page.getByRole('button', { name: 'Remove the announcement' }).click();
    await page.getByText('Sunday').waitFor({ state: 'detached' });

    await open('/operator/reviews');
    for (const box of await page.getByRole('checkbox').all()) await box.check();
    await page.getByRole('button', { name: 'Approve selected reviews' }).click();
    await page.getByText('2 reviews approved.').waitFor();
    await check();

    await open('/operator/blocks');
    await page.getByLabel('Kind').selectOption('name');
    await page.getByLabel('Name or network').fill(player);
    await page.getByLabel('Internal reason').fill('It sells votes.');
    await page.getByRole('button', { name: 'Block', exact: true }).click();
    await page.getByText(player).first().waitFor();
    await check();
    await page.getByText('Lift…').first().click();
    await page
      .getByRole('button', { name: /^Lift the block/ })
      .first()
      .click();

    await open(`/operator/votes?player=${player}`);
    await page
      .getByRole('link', { name: /Exclude/ })
      .first()
      .click();
    await page.getByLabel('Internal reason').fill('It sells votes.');
    await page.getByRole('button', { name: /^Exclude 1 vote/ }).click();
    // The exclusion starts a few seconds later, when all earlier votes are stored.
    await page.locator('#exclusion-list').getByText(player).first().waitFor();
    await check();
  });
});
