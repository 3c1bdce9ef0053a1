import { test } from 'vitest';
import { startSite } from './running-site.ts';
import { fillListing } from './sample-listing.ts';
import { signIn } from './steps.ts';
import { launchBrowser, openTab } from './tab.ts';
import { atTheEnd } from '../support/at-the-end.ts';
test('shots', { timeout: 200_000 }, async () => {
  const site = await startSite({ OPERATOR_TWO_FACTOR: 'optional' });
  const filled = await fillListing(site.deps);
  atTheEnd(filled.close);
  const tab = await openTab(await launchBrowser(), site.url);
  await signIn(tab, filled.listing.users.operator.email, filled.listing.users.operator.password);
  const { page } = tab;
  const errors: string[] = [];
  for (const [name, colorScheme, viewport] of [
    ['desk', 'light', { width: 1200, height: 900 }],
    ['phone', 'dark', { width: 390, height: 844 }],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    for (const which of ['held', 'reviews', 'reports', 'listeners', 'servers', 'figures', 'jobs']) {
      await tab.open(`/operator?tab=${which}`);
      if (which === 'held' && name === 'desk') {
        await page.keyboard.press('j');
        await page.keyboard.press('Space');
      }
      await tab.check().catch((error: unknown) => errors.push(`${name} ${which}: ${JSON.stringify((error as { actual: unknown }).actual)}`));
      await page.screenshot({ path: `/tmp/w/inbox/.data/shot-${name}-${which}.png`, fullPage: true });
    }
  }
  await page.setViewportSize({ width: 1200, height: 900 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await tab.open('/operator?tab=held');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.locator('[data-result]').waitFor();
  await page.screenshot({ path: '/tmp/w/inbox/.data/shot-desk-dark-decided.png', fullPage: true });
  console.log('ERRORS', errors.join('\n\n'));
});
