import { ObjectId } from 'mongodb';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { setListener as setListenerOf } from '../../src/delivery/listeners.ts';
import { VotifierListener } from '../../src/sample/votifier-listener.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addOwnedServer } from '../site/owned-server.ts';
import { type House, openHouse } from './house.ts';
import { call, comesToSay, setListener, signUp } from './steps.ts';
import { browserPath, launch, type Visit, visit } from './visit.ts';

const chromium = browserPath();

/** Somebody signs up, and gets a server with an API token and a listener that runs and is not set. */
async function newOwner({ platform }: House, visitor: Visit) {
  await signUp(visitor, 'ada@example.org');
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
  const { status } = await call(url, { serverId: serverId.toHexString(), token }, 'vote', { username });
  expect(status).toBe(200);
}

/** Sets a listener as a command line would. */
function setRunning({ platform }: House, serverId: ObjectId, { port, token: secret }: VotifierListener) {
  const running = { protocol: 'votifier-v2', host: '127.0.0.1', port, secret } as const;
  return setListenerOf(platform, serverId, { ...running, serviceName: 'Tallyport' }, 'test');
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
      const sees = (text: string) => comesToSay(visitor, '#votes', text, { scripted });
      await sees('for the listener to be resumed');
      await check();

      await row.getByRole('link').focus();
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
      if (scripted) {
        const focused = () => page.evaluate('document.activeElement?.textContent');
        expect(await focused()).toBe('Steve');
      }
      await check();

      await page.getByRole('link', { name: 'Steve' }).click();
      await page.getByText('Attempt 2').waitFor();
      await check();
      expect(listener.votes.map(({ username }) => username)).toEqual(['Steve']);
    } finally {
      await browser.close();
    }
  });

  test('a page that cannot refresh itself says so until it can, and asks nothing in a tab that nobody sees', async () => {
    const house = await openHouse();
    const browser = await launch(chromium ?? '');
    try {
      const visitor = await visit(browser, house.url);
      const { page, open } = visitor;
      const { path, listener, ...server } = await newOwner(house, visitor);
      await cast(house.url, server, 'Steve');
      await setRunning(house, server.serverId, listener);
      await house.platform.votes.updateOne(
        { serverId: server.serverId },
        { $set: { 'delivery.state': 'sending' } },
      );
      await open(`${path}/votes`);
      await page.route('**/votes', (route) => route.fulfill({ status: 503, body: 'away' }));
      await page.getByText('It could not be refreshed').waitFor();
      expect(await page.getByRole('link', { name: 'Steve' }).count()).toBe(1);
      await page.unroute('**/votes');
      await page.getByText('This part refreshes itself.').waitFor();

      await page.evaluate(`Object.defineProperty(document, 'hidden', { value: true, configurable: true })`);
      await cast(house.url, server, 'Alex');
      let asked = 0;
      page.on('request', () => {
        asked += 1;
      });
      // The page's own timer goes on.
      await page.evaluate(`new Promise((resolve) => {
        let rounds = 0;
        document.querySelector('[data-live]').addEventListener('every', () => {
          rounds += 1;
          if (rounds === 2) resolve();
        });
      })`);
      expect(asked).toBe(0);
      await page.evaluate(`Object.defineProperty(document, 'hidden', { value: false, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));`);
      await page.getByRole('link', { name: 'Alex' }).waitFor();
      // Signed out elsewhere: the page itself says what is needed.
      await house.platform.sessions.deleteMany({});
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    } finally {
      await browser.close();
    }
  });
});
