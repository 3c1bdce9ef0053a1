import { describe, test } from 'vitest';
import { fromSignUpToAVote } from '../browser/owner-steps.ts';
import { startSite } from '../browser/running-site.ts';
import { chromium, launchBrowser, openTab } from '../browser/tab.ts';

// Without JavaScript, and on a phone with the accessibility of each page: test/browser/owner-flow.browser.test.ts.
describe.skipIf(!chromium)('the way of an owner, in a browser', () => {
  test('from signing up to a vote that has arrived, and a token that is refused', async () => {
    const { url } = await startSite();
    const tab = await openTab(await launchBrowser(), url, { rules: 'none' });
    await fromSignUpToAVote(url, tab, 'ada@example.org', true);
  });
});
