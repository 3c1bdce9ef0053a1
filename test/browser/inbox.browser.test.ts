import type { ObjectId } from 'mongodb';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { writeReview } from '../../src/reviews/write-review.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { castVote } from '../support/casting.ts';
import { emptyDatabase } from '../support/databases.ts';
import { addOwnedServer, addOwner } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { chromium, DARK_PHONE, launchBrowser, openTab, type Tab, type TabOptions } from './tab.ts';

const REASON = 'One network voted as more than 6 new players in a day.';

describe.skipIf(!chromium)('the inbox of operators, in a browser', () => {
  let site: RunningSite;
  let servers: ObjectId[];

  beforeAll(async () => {
    site = await startSite();
  });

  afterEach(() => emptyDatabase(site.deps.mongo));

  beforeEach(async () => {
    const ownerId = await addOwner(site.deps);
    servers = [];
    for (const name of ['Alpha', 'Beta', 'Gamma']) {
      const address = `${name.toLowerCase()}.example.org`;
      servers.push(await addOwnedServer(site.deps, ownerId, { name, address }));
    }
  });

  /** Votes of one network for each server, the last one the newest. */
  async function holdAll(): Promise<void> {
    for (const [i, serverId] of servers.entries()) await hold(serverId, `Bot${i}`, `origin-of-network-${i}`);
  }

  async function hold(serverId: ObjectId, username: string, origin: string): Promise<void> {
    const quarantineId = await openQuarantine(site.deps, serverId, REASON, { cause: 'network', origin });
    await castVote(site.deps, { serverId, username, tokenId: null, quarantineId });
  }

  async function operatorTab(options: TabOptions = {}): Promise<Tab> {
    const tab = await openTab(await launchBrowser(), site.url, options);
    await tab.signInHere(await signIn(site, { role: 'operator' }));
    return tab;
  }

  const decided = async () =>
    (await site.deps.voteExclusions.find({ state: { $ne: 'quarantined' } }).toArray()).length;
  const focusedText = ({ page }: Tab) => page.evaluate<string>('document.activeElement.textContent');
  const said = ({ page }: Tab) => page.locator('[data-said]').textContent();

  test('j and k step, x excludes and a releases in place; the result is said and the next item has the focus', async () => {
    await holdAll();
    const tab = await operatorTab();
    const { page, open, check } = tab;
    await open('/operator');
    await page.getByText('j next').waitFor();
    // The first item is open at once; j opens the second.
    expect(await page.getByRole('heading', { name: '1 vote held for Gamma' }).isVisible()).toBe(true);
    await page.keyboard.press('j');
    expect(await focusedText(tab)).toContain('1 vote, one network');
    expect(await page.getByRole('heading', { name: '1 vote held for Gamma' }).isVisible()).toBe(false);
    await page.keyboard.press('k');
    await page.keyboard.press('k');
    expect(await page.locator('[data-item]').first().locator('.it:focus').count()).toBe(1);

    // Excluding needs a reason; the one for which the votes were held is proposed.
    await page.keyboard.press('x');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => page.locator('[data-item]').count()).toBe(2);
    expect(await said(tab)).toContain('The held votes of 1 server stay out of the counts');
    expect(await page.locator('[data-item]').first().locator('.it:focus').count()).toBe(1);
    expect(await decided()).toBe(1);
    await check();

    await page.keyboard.press('a');
    await expect.poll(() => page.locator('[data-item]').count()).toBe(1);
    expect(await said(tab)).toContain('will be counted and delivered');
    // Without anything left, the kind has the focus, and the emptiness is said.
    await page.keyboard.press('a');
    await expect.poll(() => said(tab)).toContain('Nothing needs you.');
    expect(await focusedText(tab)).toContain('All');
    expect(await decided()).toBe(3);
    await check();
  });

  test('Space selects and a key decides about all that are selected; Undo brings an exclusion back', async () => {
    await holdAll();
    const tab = await operatorTab();
    const { page, open, check } = tab;
    await open('/operator?tab=held');
    await page.keyboard.press('Space');
    await page.keyboard.press('j');
    await page.keyboard.press('Space');
    await page.getByText('2 selected').waitFor();
    // Enter in a check box decides nothing.
    await page.locator('.pick input').first().focus();
    await page.keyboard.press('Enter');
    await check();
    await page.keyboard.press('x');
    await page.keyboard.type('Bots');
    await check();
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => page.locator('[data-item]').count()).toBe(1);
    expect(await site.deps.voteExclusions.countDocuments({ state: 'confirming', reason: 'Bots' })).toBe(2);
    expect(await said(tab)).toContain('The held votes of 2 servers stay out of the counts');
    await page.getByRole('button', { name: 'Undo: count and deliver' }).click();
    await page.locator('[data-result]').getByText('Undone.').waitFor();
    const states = (await site.deps.voteExclusions.find({ undone: { $ne: null } }).toArray()).length;
    expect(states).toBe(2);
  });

  test('what needs a reason opens its form, Escape closes it, and letters are text there; keys can be switched off', async () => {
    for (const username of ['Steve', 'Alex'])
      await writeReview(site.deps, { serverId: servers[0] as ObjectId, username, rating: 3 });
    const tab = await operatorTab();
    const { page, open, check } = tab;
    await open('/operator?tab=reviews');
    await page.keyboard.press('x');
    const item = page.locator('[data-item]').first();
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('reason');
    await page.keyboard.press('Escape');
    expect(await item.getByLabel('Reason for the author').isVisible()).toBe(false);
    await page.keyboard.press('x');
    await page.keyboard.type('jax');
    await check();
    await page.keyboard.press('Control+Enter');
    await page.locator('[data-result]').getByText('is rejected').waitFor();
    const stored = await site.deps.reviews.findOne({ state: 'rejected' });
    expect(stored?.rejectedFor).toBe('jax');

    await page.getByLabel('Use keys').uncheck();
    await open('/operator?tab=reviews');
    expect(await page.getByLabel('Use keys').isChecked()).toBe(false);
    await page.keyboard.press('a');
    expect(await site.deps.reviews.countDocuments({ state: 'approved' })).toBe(0);
    await page.getByLabel('Use keys').check();
    await page.keyboard.press('a');
    await page.locator('[data-result]').getByText('is approved').waitFor();
  });

  test('a decision that another operator made first is said, and a page of another kind is opened whole', async () => {
    await holdAll();
    const tab = await operatorTab();
    const { page, open } = tab;
    await open('/operator?tab=held');
    await site.deps.voteExclusions.updateMany({}, { $set: { state: 'releasing' }, $unset: { origin: '' } });
    await page.keyboard.press('a');
    await expect.poll(() => said(tab)).toContain('Another operator decided first about 1 quarantine.');

    await site.deps.voteExclusions.deleteMany({});
    await holdAll();
    await open('/operator?tab=held');
    const item = page.locator('[data-item]').first();
    await item.getByText('Block network…').click();
    await item.getByRole('button', { name: 'Block for 30 days' }).click();
    await page.locator('[data-result]').getByText('The network is blocked').waitFor();
    await page.getByRole('button', { name: 'Undo the block' }).click();
    await page.getByText('Block lifted.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/operator/blocks');
  });

  test('works without scripts, on a phone, in the dark: no keys are promised, and each decision is a button', async () => {
    await holdAll();
    const tab = await operatorTab({
      javaScriptEnabled: false,
      ...DARK_PHONE,
    });
    const { page, open, check } = tab;
    await open('/operator?tab=held');
    expect(await page.getByText('Use keys').isVisible()).toBe(false);
    await check();
    await page.locator('.pick input').first().check();
    await page.locator('.pick input').nth(1).check();
    await page.locator('.bulk').getByText('Exclude…').click();
    await page.locator('.bulk').getByLabel('Internal reason').fill('Bots');
    await page.locator('.bulk').getByRole('button', { name: 'Exclude' }).click();
    await page.getByText('The held votes of 2 servers stay out of the counts').waitFor();
    // The pane opens under its line.
    await page.locator('.it').first().click();
    await check();
    await page.getByRole('button', { name: 'Count and deliver 1 vote' }).click();
    await page.getByText('will be counted and delivered').first().waitFor();
    await page.getByText('No votes are held.').waitFor();
    await check();
  });
});
