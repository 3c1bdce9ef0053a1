import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { startSteamProvider } from '../support/steam-provider.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { comesToSay } from './steps.ts';
import { chromium, launchBrowser, openTab } from './tab.ts';
import { IN_TOKYO, isFocused, listWithListener, voteAndReturn } from './vote-steps.ts';

const GABE = '76561197960287930';

describe.skipIf(!chromium)('a player, in a browser', () => {
  let site: RunningSite;
  let browser: Browser;

  beforeAll(async () => {
    const steam = await startSteamProvider();
    site = await startSite({ TRUST_PROXY: '1', ...steam.env });
    browser = await launchBrowser();
  });

  // On a computer: test/doors/vote-page.test.ts.
  test('comes by a link, votes, sees the vote arrive, and is told when the next one is possible, on a phone', async () => {
    const server = await listWithListener(site, 'Alpha Craft');
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
    const tab = await openTab(browser, site.url, { ...IN_TOKYO, ...phone });
    await voteAndReturn(site, tab, server, true);
  });

  test('is told at the field that a name is not one of the game, with the focus on it; also at once for a link', async () => {
    const { slug, serverId } = await listWithListener(site, 'Epsilon Craft');
    await site.deps.servers.updateOne({ _id: serverId }, { $set: { game: 'minecraft' } });
    const sentence = 'This is not a Minecraft name';
    const seenAt = async (page: Page) => {
      const name = page.getByLabel('Your player name');
      await page.locator('.field', { has: name }).getByText(sentence).waitFor();
      await expect.poll(() => isFocused(name)).toBe(true);
      expect(await name.getAttribute('aria-invalid')).toBe('true');
      expect(await name.getAttribute('aria-describedby')).toBe('username-hint username-error');
      expect(await page.getByText(sentence).count()).toBe(1);
      return name;
    };
    const { page, open, check } = await openTab(browser, site.url);
    for (const path of [`/servers/${slug}/vote`, `/servers/${slug}`]) {
      await open(path);
      await page.getByLabel('Your player name').fill('ab');
      await page.locator('form[data-vote] button.vote').click();
      const name = await seenAt(page);
      await check();
      await name.fill('Abel');
      const refusal = { status: 429, json: { error: 'Too many votes were started.' } };
      await page.route(/challenge$/, (route) => route.fulfill(refusal), { times: 1 });
      await page.locator('form[data-vote] button.vote').click();
      await page.getByText(refusal.json.error).waitFor();
      expect(await name.getAttribute('aria-invalid')).toBeNull();
      expect(await page.getByText(sentence).count()).toBe(0);
      expect(await isFocused(page.locator('form[data-vote] button.vote'))).toBe(true);
    }
    await open(`/servers/${slug}/vote?username=ab`);
    await seenAt(page);

    const plain = await openTab(browser, site.url, { javaScriptEnabled: false });
    await plain.open(`/servers/${slug}/vote`);
    await plain.page.getByLabel('Your player name').fill('ab');
    await plain.page.getByRole('button', { name: 'Vote' }).click();
    await seenAt(plain.page);
    await plain.check();
  });

  test('is remembered by the browser after a vote: name, cooldown and other servers, until told to forget', async () => {
    const alpha = await listWithListener(site, 'Delta One');
    const beta = await listWithListener(site, 'Delta Two');
    const tab = await openTab(browser, site.url);
    const { page, open, check } = tab;
    const name = page.getByLabel('Your player name');
    const vote = async (slug: string, username: string) => {
      await open(`/servers/${slug}/vote`);
      await name.fill(username);
      await page.getByRole('button', { name: 'Vote' }).click();
    };
    // A refused vote is not remembered, and neither is the page of somebody else's vote.
    await vote(alpha.slug, 'x'.repeat(60));
    await page.getByText('at most 50 characters').waitFor();
    await open(`/servers/${beta.slug}/vote`);
    expect(await name.inputValue()).toBe('');

    await vote(alpha.slug, 'Nora');
    await page.getByRole('heading', { name: 'Your vote counts, Nora.' }).waitFor();
    const ofNora = page.url();
    expect(await page.getByRole('heading', { name: 'Vote for your other servers' }).isVisible()).toBe(false);
    await open(`/servers/${beta.slug}/vote`);
    expect(await name.inputValue()).toBe('Nora');
    await page.getByRole('button', { name: 'Vote' }).click();
    await page.getByRole('heading', { name: 'Your vote counts, Nora.' }).waitFor();
    const others = page.locator('.due-list');
    await others.getByRole('link', { name: 'Delta One' }).waitFor();
    expect(await others.textContent()).toMatch(/in (23|24) hours/);
    await check();

    // The vote page of a server that the browser has voted for shows the time that is left.
    await open(`/servers/${alpha.slug}/vote`);
    await page.getByRole('heading', { name: 'Nora has voted for Delta One.' }).waitFor();
    await expect.poll(() => page.locator('[data-left]').textContent()).toMatch(/^2[34]:\d\d:\d\d$/);
    await check();
    await page.getByRole('link', { name: 'Vote as another player' }).click();
    expect(await name.inputValue()).toBe('');

    const stranger = await openTab(browser, site.url);
    await stranger.page.goto(ofNora);
    await stranger.open(`/servers/${beta.slug}`);
    expect(await stranger.page.getByLabel('Your player name').inputValue()).toBe('');

    // After the cooldown, the server's page has its form again.
    const later = String(Date.now() + 25 * 3_600_000);
    await page.route(/\/time$/, (route) => route.fulfill({ body: later }));
    await open(`/servers/${beta.slug}`);
    await page.getByRole('button', { name: 'Not Nora?' }).click();
    expect(await name.inputValue()).toBe('');
    await open(`/servers/${alpha.slug}/vote`);
    expect(await name.inputValue()).toBe('');
    const keys = await page.evaluate(() => Object.keys(localStorage));
    expect(keys).not.toContain('player-names');
    expect(keys).not.toContain('voted-servers');
  });

  test('votes with IPv4 and IPv6 at once: on the other network with the secret of the page, else with a second proof', async () => {
    const { slug } = await listWithListener(site, 'Two Paths');
    const { page, open } = await openTab(browser, site.url);
    const sent: string[] = [];
    let losesSecret = false;
    // The last proxy reports an IPv6 address for challenges and an IPv4 address for forms.
    await page.route(/\/vote(\/challenge)?$/, (route, request) => {
      if (request.method() !== 'POST') return route.continue();
      const isForm = request.url().endsWith('/vote');
      sent.push(isForm ? 'form' : 'challenge');
      const headers = { ...request.headers(), 'x-forwarded-for': isForm ? '203.0.113.7' : '2001:db8:1:1::7' };
      const postData = request.postData() ?? '';
      if (!isForm || !losesSecret) return route.continue({ headers, postData });
      losesSecret = false;
      return route.continue({ headers, postData: postData.replace(/session=[\w-]+/, 'session=') });
    });
    for (const [username, loses, requests] of [
      ['Steve', false, ['challenge', 'form']],
      ['Alex', true, ['challenge', 'form', 'challenge', 'form']],
    ] as const) {
      losesSecret = loses;
      sent.length = 0;
      await open(`/servers/${slug}/vote?username=${username}`);
      await page.getByRole('button', { name: 'Vote' }).click();
      await page.getByRole('heading', { name: `Your vote counts, ${username}.` }).waitFor();
      expect(sent).toEqual(requests);
    }
  });

  test('votes without JavaScript when signed in; without an account the page says to sign in', async () => {
    const { slug, listener } = await listWithListener(site, 'Beta Craft');
    const tab = await openTab(browser, site.url, { javaScriptEnabled: false });
    const { page, open, check, signInHere } = tab;
    await open(`/servers/${slug}/vote?username=Alex`);
    const sentence =
      /needs JavaScript\. Allow it for this page, or sign in with an account that is older than 7 days/;
    const form = page.locator('form[data-vote]');
    await form.getByText(sentence).waitFor();
    await page.getByRole('button', { name: 'Vote' }).click();
    await page.getByRole('alert').getByText(sentence).waitFor();

    await signInHere(await signIn(site, { days: 8 }));
    await open(`/servers/${slug}/vote?username=Alex`);
    await page.getByRole('button', { name: 'Vote' }).click();
    await page.getByRole('heading', { name: 'Your vote counts, Alex.' }).waitFor();
    await comesToSay(tab, '#delivery', 'Arrived in', { scripted: false });
    expect(listener.votes.map(({ username }) => username)).toEqual(['Alex']);
    await check();
  });

  test('signed in, sees on the server’s page when the next vote is possible, until the name is forgotten', async () => {
    const { slug } = await listWithListener(site, 'Zeta Craft');
    const { page, open, signInHere } = await openTab(browser, site.url);
    await signInHere(await signIn(site, { days: 8 }));
    await open(`/servers/${slug}`);
    await page.getByLabel('Your player name').first().fill('Mara');
    await page.locator('.voting button.vote').click();
    const heading = page.getByRole('heading', { name: 'Your vote counts, Mara.' });
    await heading.waitFor();
    await expect.poll(() => isFocused(heading)).toBe(true);
    // The browser's Back button may show the page as it was before the vote.
    await page.goBack();
    await page.getByText(/You voted here; next vote in 2[34]:\d\d hours\./).waitFor();
    expect(await page.evaluate(() => Object.keys(localStorage).toSorted())).toEqual([
      'clock-lacks',
      'voted-servers',
    ]);
    const other = await listWithListener(site, 'Eta Craft');
    await open(`/servers/${other.slug}/vote`);
    await page.getByRole('button', { name: 'Not Mara?' }).click();
    await page.waitForURL(/username=$/);
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual(['clock-lacks']);
  });

  test('votes behind a proxy that sets Referrer-Policy: no-referrer, where forms have the origin null; signed in, without scripts too', async () => {
    let behind = '';
    const origins: (string | undefined)[] = [];
    const proxy = createServer((asked, answer) => {
      const { method, headers, url } = asked;
      if (method === 'POST') origins.push(headers.origin);
      const passed = request(`${behind}${url}`, { method, headers }, (answered) => {
        answer.writeHead(answered.statusCode ?? 502, {
          ...answered.headers,
          'referrer-policy': 'no-referrer',
        });
        answered.pipe(answer);
      });
      asked.pipe(passed);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => proxy.close().closeAllConnections());
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const hidden = await startSite({ PUBLIC_URL: url });
    behind = hidden.url;
    const { slug } = await listWithListener(hidden, 'Behind a proxy');

    const { page, open } = await openTab(browser, url);
    await open(`/servers/${slug}/vote?username=Steve`);
    await page.getByRole('button', { name: 'Vote' }).click();
    await page.getByRole('heading', { name: 'Your vote counts, Steve.' }).waitFor();

    const plain = await openTab(browser, url, { javaScriptEnabled: false });
    await plain.signInHere(await signIn(hidden, { days: 8 }));
    await plain.open(`/servers/${slug}/vote?username=Alex`);
    await plain.page.getByRole('button', { name: 'Vote' }).click();
    await plain.page.getByRole('heading', { name: 'Your vote counts, Alex.' }).waitFor();
    // Scripts send their origin, forms do not.
    expect(origins.filter((origin) => origin === 'null').length).toBeGreaterThan(1);
  });

  test('is told that a vote is quarantined, which an operator finds in the inbox and releases', async () => {
    const { slug, serverId, listener } = await listWithListener(site, 'Gamma Craft');
    const { deps } = site;
    const key = `new-web-voters:${serverId.toHexString()}:firsts`;
    const resetAt = new Date(Date.now() + 3_600_000);
    await deps.rateLimits.insertOne({ _id: key, count: 1_000, resetAt });
    const tab = await openTab(browser, site.url);
    const { page, open, check } = tab;
    await open(`/servers/${slug}/vote?username=Newcomer`);
    await page.getByRole('button', { name: 'Vote' }).click();
    await page.getByRole('heading', { name: 'Your vote waits for a check, Newcomer.' }).waitFor();
    await check();
    expect(listener.votes).toEqual([]);

    const operator = await openTab(browser, site.url);
    await operator.signInHere(await signIn(site, { role: 'operator' }));
    await operator.open('/operator');
    await operator.page.getByRole('link', { name: '1 vote, new players of one server' }).click();
    await operator.page.getByRole('heading', { name: '1 vote held for Gamma Craft' }).waitFor();
    await operator.page
      .getByRole('button', { name: 'Count and deliver 1 vote held for Gamma Craft' })
      .click();
    await operator.page.locator('[data-result]').getByText('will be counted and delivered').waitFor();
  });

  test('of a Steam game signs in through Steam from the server’s page, votes as that SteamID, and drops it', async () => {
    const owner = await signIn(site);
    const serverId = await addOwnedServer(site.deps, owner.userId, { name: 'Rusty', game: 'rust' });
    const form = `${site.url}/servers/rusty/vote`;

    const visitor = await openTab(browser, site.url);
    await visitor.open('/servers/rusty/vote');
    await visitor.check();

    // A tab of its own, because the provider is another site.
    const { page, open } = await openTab(browser, site.url);
    await open('/servers/rusty');
    await page.getByRole('link', { name: 'Sign in through Steam' }).click();
    await page.getByText(`Voting as ${GABE}`).waitFor();
    expect(page.url()).toBe(form);
    await visitor.page.context().addCookies(await page.context().cookies(form));
    await visitor.open('/servers/rusty/vote');
    await visitor.check();

    await page.getByRole('button', { name: 'Vote', exact: true }).click();
    await page.getByRole('heading', { name: `Your vote counts, ${GABE}.` }).waitFor();
    expect(await site.deps.votes.findOne({ serverId })).toMatchObject({ username: GABE, identity: 'proven' });

    await open('/servers/rusty/vote');
    await page.getByRole('button', { name: 'Not you?' }).click();
    await page.getByLabel('Your SteamID').waitFor();

    await site.deps.servers.updateOne({ _id: serverId }, { $set: { provenIdOnly: true } });
    await visitor.page.context().clearCookies();
    await visitor.open('/servers/rusty/vote');
    await visitor.page.getByText('takes votes only from players who signed in through Steam').waitFor();
    await visitor.check();
  });
});
