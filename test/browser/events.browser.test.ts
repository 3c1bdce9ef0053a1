import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { eventIdOf } from '../../src/events/event.ts';
import { storeEvents } from '../../src/events/store-events.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startFakeDiscord, WEBHOOK_ADDRESS } from '../support/fake-discord.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { chromium, DARK_PHONE, launchBrowser, openTab, type TabOptions } from './tab.ts';

const WAYS: [string, TabOptions][] = [
  ['without JavaScript', { javaScriptEnabled: false, viewport: { width: 1280, height: 800 } }],
  ['on a phone in the dark', DARK_PHONE],
];

describe.skipIf(!chromium)('events, in a browser', () => {
  let site: RunningSite;
  let browser: Browser;

  beforeAll(async () => {
    const discord = await startFakeDiscord();
    site = await startSite({ DISCORD_API_URL: discord.url });
    browser = await launchBrowser();
  });

  test.each(WAYS)('an owner sends events to a program and to Discord, %s', async (how, options) => {
    const owner = await signIn(site);
    const serverId = await addOwnedServer(site.deps, owner.userId, {
      name: `Events ${how}`,
      address: `events-${how.length}.example.org`,
    });
    const program = await startFakeHttpListener();
    const tab = await openTab(browser, site.url, options);
    const { page, open, check } = tab;
    const press = (name: string | RegExp) => page.getByRole('button', { name }).click();
    await tab.signInHere(owner);

    await open(`/dashboard/servers/${serverId.toHexString()}/events`);
    await page.getByText('A program or website (HTTPS)').click();
    const form = page.locator('form', { has: page.locator('#http-url') });
    await form.getByLabel('Name').fill('Raid bot');
    await form.getByLabel('URL').fill(`http://127.0.0.1:${program.port}/events`);
    await form.getByRole('button', { name: 'Add destination' }).click();
    await page.getByRole('link', { name: 'Choose at least one kind of event.' }).waitFor();
    await check();
    await form.getByLabel('Vote goal').check();
    await form.getByRole('button', { name: 'Add destination' }).click();
    await page.getByText('Copy it now: it is shown only once.').waitFor();
    await check();
    await press('Send test event');
    await page.getByText('The test event arrived (HTTP 204').waitFor();
    expect(await page.getByText('whsec_').count()).toBe(0);
    expect(program.challenges).toBe(1);

    const { now } = site.deps.clock;
    const at = now.call(site.deps.clock);
    const _id = eventIdOf('goal.reached', how);
    await storeEvents(site.deps, serverId, [{ _id, type: 'goal.reached', at, data: { votes: 500 } }]);
    await vi.waitFor(() => expect(program.received).toHaveLength(2), EVENTUALLY);
    expect(program.received[1]?.headers['webhook-id']).toBe(_id);
    await vi.waitFor(async () => {
      await page.goto(page.url().replace(/\/test$/, ''));
      expect(await page.getByRole('button', { name: /^Replay/ }).count()).toBe(1);
    }, EVENTUALLY);
    await press(/^Replay/);
    await page.getByText('The event is being sent again.').waitFor();
    await vi.waitFor(() => expect(program.received).toHaveLength(3), EVENTUALLY);
    expect(program.received[2]?.headers['webhook-id']).toBe(_id);
    await check();

    await page.getByRole('link', { name: 'All destinations' }).click();
    await page.locator('#live').getByLabel('Address of the webhook').fill(WEBHOOK_ADDRESS);
    await press('Start live status');
    await page.getByText('Live status saved.').waitFor();
    await vi.waitFor(async () => {
      await page.reload();
      expect(await page.locator('#live').getByText('works', { exact: true }).count()).toBe(1);
    }, EVENTUALLY);
    await check();
  });
});
