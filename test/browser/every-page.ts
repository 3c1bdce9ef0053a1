import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { fillListing } from './sample-listing.ts';
import { PAGES, type SamplePage } from './sample-pages.ts';
import type { Ends, StillSite } from './still-site.ts';
import { openStillTab } from './take-picture.ts';

const COMPUTER = { width: 1200, height: 720 };
const PHONE = { width: 390, height: 844 };

const WINDOWS = [
  { suffix: '', colorScheme: 'light', viewport: COMPUTER },
  { suffix: '-dark', colorScheme: 'dark', viewport: COMPUTER },
  { suffix: '-phone', colorScheme: 'light', viewport: PHONE },
] as const;

/**
 * Saves pictures of every page that the tests visit, in light and dark and in phone size. Their data are those of the
 * tests, with very long names and names from right to left.
 */
export async function takeEveryPage(
  site: StillSite,
  browser: Browser,
  folder: string,
  ends: Ends,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  site.work();
  const { listing, close } = await fillListing(site.deps);
  ends.push(close);
  for (const reader of ['stranger', 'owner', 'operator'] as const) {
    const user = reader === 'stranger' ? undefined : listing.users[reader];
    const page = await openStillTab(browser, site.url, user);
    for (const one of PAGES.filter((one) => one.reader === reader && (one.status ?? 200) === 200)) {
      for (const { suffix, colorScheme, viewport } of WINDOWS) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        await page.goto(one.path(listing));
        await page.screenshot({ path: join(folder, `${nameOf(one)}${suffix}.png`), scale: 'css' });
      }
    }
  }
}

/** `games-game` for `/games/:game`, `home` for `/`. */
function nameOf({ route }: SamplePage): string {
  return route.slice(1).replaceAll('/', '-').replaceAll(':', '') || 'home';
}
