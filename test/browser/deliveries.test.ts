import { ObjectId } from 'mongodb';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { VotifierListener } from '../../src/sample/votifier-listener.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addOwnedServer } from '../site/owned-server.ts';
import { type House, openHouse } from './house.ts';
import { browserPath, launch, type Visit, visit } from './visit.ts';

const chromium = browserPath();

/** Somebody signs up, and gets a server with an API token and a listener that runs and is not set. */
async function newOwner({ platform }: House, { page, open }: Visit) {
  await open('/sign-up');
  await page.getByLabel('Your name').fill('Ada Owner');
  await page.getByLabel('E-mail address').fill('ada@example.org');
  await page.getByLabel('Password').fill('three ships in the bay');
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('heading', { name: 'Your servers' }).waitFor();
  const ada = await platform.people.findOne({ email: 'ada@example.org' });
  const serverId = await addOwnedServer(platform, ada?._id ?? new ObjectId());
  const { token } = await issueToken(platform, { serverId, name: 'plugin' });
  const listener = new VotifierListener();
  await listener.start();
  onTestFinished(() => listener.stop());
  return { serverId, token, listener, path: `/dashboard/servers/${serverId.toHexString()}` };
}

/** Casts a vote as a plugin does. */
async function cast(
  url: string,
  { serverId, token }: { serverId: ObjectId; token: string },
  username: string,
) {
  const answer = await fetch(`${url}/api/v1/servers/${serverId.toHexString()}/vote`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ username }),
  });
  expect(answer.status).toBe(200);
}

async function setListener({ page }: Visit, port: number, secret: string) {
  await page.getByLabel('Host').fill('127.0.0.1');
  await page.getByLabel('Port').fill(String(port));
  await page.getByLabel('Token').fill(secret);
  await page.getByRole('button', { name: /Set the listener|Save the settings/ }).click();
  await page.getByText('The listener is set').waitFor();
}

describe.skipIf(!chromium)('deliveries in a browser', () => {
  test.each<[string, BrowserContextOptions]>([
    ['with a script', {}],
    ['without JavaScript', { javaScriptEnabled: false }],
    ['on a phone', { viewport: { width: 390, height: 844 } }],
    ['in the dark', { colorScheme: 'dark' }],
  ])('an owner finds a wrong token, mends it and sees the vote arrive, %s', async (_how, options) => {
    const house = await openHouse();
    const browser = await launch(chromium ?? '');
    try {
      const visitor = await visit(browser, house.url, options);
      const { page, open, check } = visitor;
      const scripted = options.javaScriptEnabled !== false;
      const { path, listener, ...server } = await newOwner(house, visitor);
      await open(`${path}/listener`);
      await check();
      await setListener(visitor, listener.port, 'not-the-token-0123');
      await check();

      await page.getByRole('button', { name: 'Send test vote' }).click();
      await page.getByText('The test vote did not arrive').waitFor();
      await page
        .getByText('The listener refused the signature: its token or secret is another one.')
        .waitFor();
      expect(await page.getByRole('listitem').filter({ hasText: 'here it fails' }).textContent()).toContain(
        'Key or token',
      );
      await check();

      await cast(house.url, server, 'Steve');
      await open(`${path}/votes`);
      const row = page.getByRole('row').filter({ hasText: 'Steve' });
      const sees = async (text: string) => {
        // Whoever has no script asks for the page anew.
        if (scripted) return page.locator('#votes').getByText(text).first().waitFor();
        await expect
          .poll(
            async () => {
              await page.getByRole('link', { name: 'Refresh' }).click();
              return page.locator('#votes').textContent();
            },
            { timeout: 20_000 },
          )
          .toContain(text);
      };
      await sees('for the listener to be resumed');
      await check();

      // Another window mends it; this one is not reloaded, and keeps its focus and what was opened.
      const other = scripted
        ? await visit(browser, house.url, { ...options, storageState: await page.context().storageState() })
        : visitor;
      await other.open(`${path}/listener`);
      await other.page.getByText('Paused because of a fault').waitFor();
      await other.check();
      await other.page.getByRole('link', { name: 'Change' }).click();
      await setListener(other, listener.port, listener.token);
      if (!scripted) await open(`${path}/votes`);
      await sees('confirmed after');
      await expect.poll(() => row.getByText('delivered').count()).toBe(1);
      await check();

      await page.getByRole('link', { name: 'Steve' }).click();
      await page.getByText('Attempt 2').waitFor();
      await check();
      expect(listener.votes.map(({ username }) => username)).toEqual(['Steve']);
    } finally {
      await browser.close();
    }
  });
});
