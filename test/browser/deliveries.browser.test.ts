import { ObjectId } from 'mongodb';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { setListener as setListenerOf } from '../../src/delivery/change-listener.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { countFigures } from '../../src/workflows/figures/count-figures.ts';
import { castVote } from '../support/casting.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { openPart } from './owner-steps.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { call, comesToSay, refreshesTo, setListener } from './steps.ts';
import { chromium, DARK_PHONE, launchBrowser, openTab, type TabOptions } from './tab.ts';

const NOTHING_WAITS = async () => ({ votes: {}, queues: {} });

/** A signed-in owner with a server, an API token and a running listener that is not configured yet. */
async function newOwner({ deps, url }: RunningSite, browser: Browser, options: TabOptions = {}) {
  const owner = await signIn({ deps });
  const serverId = await addOwnedServer(deps, owner.userId);
  const { token } = await issueToken(deps, { serverId, name: 'plugin' });
  const listener = new VotifierListener();
  await listener.start();
  onTestFinished(() => listener.stop());
  const path = `/dashboard/servers/${serverId.toHexString()}`;
  const newTab = async () => {
    const tab = await openTab(browser, url, options);
    await tab.signInHere(owner);
    if (options.javaScriptEnabled !== false) await tab.page.clock.install();
    return tab;
  };
  return { owner, serverId, token, listener, path, newTab, tab: await newTab() };
}

/** Casts a vote through the API, as a plugin does. */
async function cast(
  url: string,
  { serverId, token }: { serverId: ObjectId; token: string },
  username: string,
) {
  const { status } = await call(url, { serverId: serverId.toHexString(), token }, 'vote', { username });
  expect(status).toBe(200);
}

/** Sets a running listener directly, without the pages. */
function setRunning({ deps }: RunningSite, serverId: ObjectId, { port, token: secret }: VotifierListener) {
  const running = { protocol: 'votifier-v2', host: '127.0.0.1', port, secret } as const;
  return setListenerOf(deps, serverId, { ...running, serviceName: 'Tallyport' }, 'test');
}

describe.skipIf(!chromium)('deliveries in a browser', () => {
  let site: RunningSite;
  let browser: Browser;

  beforeAll(async () => {
    site = await startSite();
    browser = await launchBrowser();
  });

  test.each<[string, TabOptions]>([
    ['with a script', {}],
    ['without JavaScript', { javaScriptEnabled: false }],
  ])('an owner finds a wrong token, mends it and sees the vote arrive, %s', async (_how, options) => {
    const scripted = options.javaScriptEnabled !== false;
    const { path, listener, tab, newTab, ...server } = await newOwner(site, browser, options);
    const { page, open, checkInBothWindows } = tab;
    await open(`${path}/listener`);
    // Saving the settings also tests them.
    await setListener(tab, listener.port, 'not-the-token-0123');
    await page.getByText('The test vote did not arrive').waitFor();
    await page
      .getByText(
        'The listener refused the signature: its token for our service name “Tallyport” is different, or it has none for it.',
      )
      .waitFor();
    expect(await page.getByRole('listitem').filter({ hasText: 'failed' }).textContent()).toContain(
      'Key or token',
    );
    await checkInBothWindows();

    await cast(site.url, server, 'Steve');
    await open(`${path}/votes`);
    const row = page.getByRole('row').filter({ hasText: 'Steve' });
    const sees = (text: string) => comesToSay(tab, '#votes', text, { scripted });
    await sees('Waiting until the listener is resumed');

    await row.getByRole('link').focus();
    // The listener is fixed in another tab. The first tab is not reloaded: focus and opened elements stay.
    const other = scripted ? await newTab() : tab;
    await other.open(`${path}/listener`);
    await other.page.getByText('Paused because of an error').waitFor();
    await other.page.getByRole('link', { name: 'Change' }).click();
    await setListener(other, listener.port, listener.token);
    if (!scripted) await open(`${path}/votes`);
    await sees('confirmed after');
    await expect.poll(() => row.getByText('delivered').count()).toBe(1);
    if (scripted) {
      const focused = () => page.evaluate('document.activeElement?.textContent');
      expect(await focused()).toBe('Steve');
    }

    await page.getByRole('link', { name: 'Steve' }).click();
    await page.getByText('Attempt 2').waitFor();
    await checkInBothWindows();
    expect(listener.votes.map(({ username }) => username).toSorted()).toEqual(['Steve', 'TallyportTest']);
  });

  test.each<[string, TabOptions]>([
    ['with scripts', {}],
    ['without scripts, on a dark phone', { javaScriptEnabled: false, ...DARK_PHONE }],
  ])('an owner sets a listener after the first votes, and sees how votes arrive, %s', async (_, options) => {
    const { deps, url } = site;
    const listener = new VotifierListener();
    await listener.start();
    onTestFinished(() => listener.stop());
    const tab = await openTab(browser, url, options);
    const { page, open, check } = tab;
    const owner = await signIn({ deps });
    await tab.signInHere(owner);
    const serverId = await addOwnedServer(deps, owner.userId, {
      address: `${new ObjectId()}.example.org`,
    });
    await issueToken(deps, { serverId, name: 'plugin', kind: 'claim' });
    await castVote(deps, { serverId, username: 'Steve', tokenId: new ObjectId() });
    const path = `/dashboard/servers/${serverId.toHexString()}`;

    await open(`${path}/listener`);
    await check();
    // The server has a claim key, so nothing is chosen beforehand.
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
    await page.getByLabel('The listener receives each vote').check();
    await setListener(tab, listener.port, listener.token);
    await page.getByText('The test vote arrived').waitFor();

    await page.getByRole('link', { name: 'Back to vote listener' }).click();
    await page.getByRole('heading', { name: /^Last test, / }).waitFor();
    expect(await page.locator('.steps .badge').allTextContents()).toHaveLength(7);
    await page.getByText('1 vote was cast before this listener was set, and never sent.').waitFor();
    await check();
    await page.getByRole('button', { name: 'Send it' }).click();
    await page.getByText('The earlier votes are being sent, the oldest first.').waitFor();
    await expect.poll(() => listener.votes.map(({ username }) => username)).toContain('Steve');
    const isDelivered = { serverId, 'delivery.state': 'delivered' };
    await expect.poll(() => deps.votes.countDocuments(isDelivered)).toBe(1);

    await countFigures(deps, NOTHING_WAITS);
    await openPart(page, 'Delivery');
    await page.getByText('100.0 %', { exact: true }).first().waitFor();
    // The tables are there without a script.
    await page.getByText('Show as a table').first().click();
    await page.getByRole('table', { name: 'Deliveries per day' }).waitFor();
    await check();
  });

  test('a page that cannot refresh itself says so, and a hidden tab sends no requests', async () => {
    const { path, listener, tab, owner, ...server } = await newOwner(site, browser);
    const { page, open } = tab;
    await cast(site.url, server, 'Steve');
    await setRunning(site, server.serverId, listener);
    await site.deps.votes.updateOne({ serverId: server.serverId }, { $set: { 'delivery.state': 'sending' } });
    await open(`${path}/votes`);
    const polls = /\/votes\?seen=/;
    await page.route(polls, (route) => route.fulfill({ status: 503, body: 'away' }));
    await refreshesTo(tab, page.getByText('Could not refresh'));
    expect(await page.getByRole('link', { name: 'Steve' }).count()).toBe(1);
    await page.unroute(polls);
    await refreshesTo(tab, page.getByText('This section refreshes automatically.'));

    await page.evaluate(`Object.defineProperty(document, 'hidden', { value: true, configurable: true })`);
    await cast(site.url, server, 'Alex');
    let requests = 0;
    // After the last poll, an image may still be loading.
    page.on('request', (request) => {
      if (polls.test(request.url())) requests += 1;
    });
    // The timer of the page continues to run.
    await page.evaluate(`document.querySelector('[data-live]').addEventListener('every', () => {
      globalThis.rounds = (globalThis.rounds ?? 0) + 1;
    })`);
    const rounds = async () => {
      await page.clock.fastForward(15_000);
      return page.evaluate<number>('globalThis.rounds ?? 0');
    };
    await expect.poll(rounds).toBeGreaterThanOrEqual(2);
    expect(requests).toBe(0);
    await page.evaluate(`Object.defineProperty(document, 'hidden', { value: false, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));`);
    await page.getByRole('link', { name: 'Alex' }).waitFor();
    // The user was signed out in another browser: the page reloads and asks to sign in.
    await site.deps.sessions.deleteMany({ userId: owner.userId });
    await refreshesTo(tab, page.getByRole('heading', { name: 'Sign in' }));
  });
});
