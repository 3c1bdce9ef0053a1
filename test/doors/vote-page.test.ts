import { describe, expect, test } from 'vitest';
import { startSite } from '../browser/running-site.ts';
import { chromium, launchBrowser, openTab } from '../browser/tab.ts';
import { IN_TOKYO, listWithListener, voteAndReturn } from '../browser/vote-steps.ts';

// On a phone with the accessibility of each page, and the rest of the form: test/browser/vote-form.browser.test.ts.
describe.skipIf(!chromium)('a player, in a browser', () => {
  test('comes by a link, votes, sees the vote arrive, is told when the next one is possible, and need not type the name again', async () => {
    const site = await startSite();
    const server = await listWithListener(site, 'Alpha Craft');
    const tab = await openTab(await launchBrowser(), site.url, { ...IN_TOKYO, rules: 'none' });
    await voteAndReturn(site, tab, server, false);
    const other = await listWithListener(site, 'Beta Craft');
    await tab.open(`/servers/${other.slug}/vote`);
    expect(await tab.page.getByLabel('Your player name').inputValue()).toBe('Steve');
  });
});
