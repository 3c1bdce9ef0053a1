import type { ObjectId } from 'mongodb';
import type { Locator, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import type { RunningSite } from './running-site.ts';
import type { Tab } from './tab.ts';

/** Where a player is: the times of a page are in this zone. */
export const IN_TOKYO = { timezoneId: 'Asia/Tokyo', locale: 'en-GB' };

/** Sums the layout shifts of each page: see https://web.dev/articles/cls. */
const WATCH_SHIFTS = `globalThis.shift = 0;
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) globalThis.shift += value; })
    .observe({ type: 'layout-shift', buffered: true });`;
const shiftOf = (page: Page) => page.evaluate<number>('globalThis.shift');

export const isFocused = (element: Locator) =>
  element.evaluate((one) => one === one.ownerDocument.activeElement);

/** A listed server with a running listener. */
export type VotedServer = { name: string; slug: string; serverId: ObjectId; listener: VotifierListener };

/** Lists a server with a listener that runs until the test ends. */
export async function listWithListener({ deps }: RunningSite, name: string): Promise<VotedServer> {
  const listener = new VotifierListener();
  await listener.start();
  onTestFinished(() => listener.stop());
  const owner = await signIn({ deps });
  const serverId = await addOwnedServer(deps, owner.userId, { name });
  const settings = { host: '127.0.0.1', port: listener.port, secret: listener.token };
  await setListener(
    deps,
    serverId,
    { protocol: 'votifier-v2', ...settings, serviceName: 'Tallyport' },
    'test',
  );
  const server = await deps.servers.findOne({ _id: serverId });
  return { name, slug: server?.slug ?? '', serverId, listener };
}

/**
 * A player in Tokyo comes by a link that names them, votes, sees the vote arrive at the server's listener and when the
 * next one is possible, and returns: the pages know the vote, and a second one is refused.
 */
export async function voteAndReturn(
  site: RunningSite,
  tab: Tab,
  server: VotedServer,
  isPhone: boolean,
): Promise<void> {
  const { page, open, check } = tab;
  const { name, slug, listener } = server;
  await recomputeRanks(site.deps);
  await open(`/servers/${slug}/vote?username=Steve`);
  expect(await page.getByLabel('Your player name').inputValue()).toBe('Steve');
  await page.getByLabel('Your player name').press('Enter');

  const heading = page.getByRole('heading', { name: 'Your vote counts, Steve.' });
  await heading.waitFor();
  await expect.poll(() => isFocused(heading)).toBe(true);
  // The page itself refreshes the state.
  await page
    .getByText(/Arrived in \d/)
    .filter({ visible: true })
    .first()
    .waitFor();
  expect(listener.votes.map(({ username }) => username)).toEqual(['Steve']);
  const vote = await site.deps.votes.findOne({ username: 'Steve' }, { sort: { votedAt: -1 } });
  const next = new Date((vote?.votedAt.getTime() ?? 0) + 24 * 3_600_000);
  const inTokyo = { timeZone: 'Asia/Tokyo', dateStyle: 'medium', timeStyle: 'short' } as const;
  await page.getByText(new Intl.DateTimeFormat('en-GB', inTokyo).format(next)).waitFor();
  await check();

  // The server's page and the lists know it too, without a shift of what is drawn.
  await page.addInitScript(WATCH_SHIFTS);
  await open(`/servers/${slug}`);
  await page.getByText(/You voted here; next vote in 2[34]:\d\d hours\./).waitFor();
  expect(await page.locator('form[data-vote]').isVisible()).toBe(false);
  const inBar = page.locator('.dock').getByRole('link', { name: 'Voted today' });
  expect(await inBar.isVisible()).toBe(isPhone);
  expect(
    await page
      .locator('.dock')
      .getByRole('link', { name: /^Vote / })
      .isVisible(),
  ).toBe(false);
  await check();
  expect(await shiftOf(page)).toBeLessThan(0.05);
  await open('/');
  const link = page.locator('.servers a.vote').filter({ hasText: name });
  expect(await link.textContent()).toBe(`Voted today ${name}`);
  await check();
  expect(await shiftOf(page)).toBeLessThan(0.05);
  await open(`/servers/${slug}`);
  await page.getByRole('link', { name: 'Vote as another player' }).click();
  await page.getByLabel('Your player name').fill('STEVE');
  await page.getByRole('button', { name: 'Vote' }).click();
  await page.getByRole('heading', { name: `STEVE has voted for ${name}.` }).waitFor();
  await page.getByText(new Intl.DateTimeFormat('en-GB', inTokyo).format(next)).waitFor();
  await check();
}
