import { beforeAll, describe, test } from 'vitest';
import { fromSignUpToAVote } from './owner-steps.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { chromium, launchBrowser, openTab } from './tab.ts';

// On a computer with scripts: test/doors/owner.test.ts.
describe.skipIf(!chromium)('the way of an owner, in a browser', () => {
  let site: RunningSite;

  beforeAll(async () => {
    site = await startSite();
  });

  test('from signing up to a vote that has arrived, and a token that is refused, without JavaScript', async () => {
    const tab = await openTab(await launchBrowser(), site.url, { javaScriptEnabled: false });
    await fromSignUpToAVote(site.url, tab, 'without-a-script@example.org', false);
  });

  test('from signing up to a vote that has arrived, and a token that is refused, on a phone', async () => {
    const tab = await openTab(await launchBrowser(), site.url, { viewport: { width: 390, height: 844 } });
    await fromSignUpToAVote(site.url, tab, 'on-a-phone@example.org', true);
  });
});
