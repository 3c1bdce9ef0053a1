import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { countFigures } from '../../src/workflows/figures/count-figures.ts';
import { castVote } from '../support/casting.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { setListener } from './steps.ts';
import { chromium, launchBrowser, openTab, type TabOptions } from './tab.ts';

const NOTHING_WAITS = async () => ({ votes: {}, queues: {} });

describe.skipIf(!chromium)(
  'an owner sets a listener after the first votes, and sees how votes arrive',
  () => {
    let site: RunningSite;

    beforeAll(async () => {
      site = await startSite();
    });

    test.each<[string, TabOptions]>([
      ['with scripts', {}],
      [
        'without scripts, on a dark phone',
        { javaScriptEnabled: false, colorScheme: 'dark', viewport: { width: 390, height: 844 } },
      ],
    ])('%s', async (_, options) => {
      const { deps, url } = site;
      const listener = new VotifierListener();
      await listener.start();
      onTestFinished(() => listener.stop());
      const tab = await openTab(await launchBrowser(), url, options);
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
      await page.getByRole('link', { name: 'Delivery', exact: true }).click();
      await page.getByText('100 %', { exact: true }).first().waitFor();
      // The tables are there without a script.
      await page.getByText('Show as a table').first().click();
      await page.getByRole('table', { name: 'Deliveries per day' }).waitFor();
      await check();
    });
  },
);
