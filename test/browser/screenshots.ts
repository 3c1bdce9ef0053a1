/**
 * `npm run screenshots`: the whole platform with a listing in use, and a picture of each of its pages in
 * `docs/screenshots/`, in the light and in the dark, and some of them as on a phone.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { startAllInOne } from '../../src/all-in-one/start.ts';
import { loadConfig, ownEnvironment } from '../../src/config.ts';
import { openPlatform } from '../../src/platform.ts';
import { FLAGS } from './browser-flags.ts';
import { findChromium } from './find-chromium.ts';
import { fillListing, type SampleListing } from './sample-listing.ts';
import { PAGES, type SamplePage } from './sample-pages.ts';

const FOLDER = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url));

const DESK = { width: 1200, height: 720 };
const PHONE = { width: 390, height: 844 };

/** The pages that are shown as on a phone too. */
const ON_A_PHONE = [
  '/dashboard',
  '/dashboard/servers/:serverId',
  '/dashboard/servers/:serverId/votes',
  '/operator',
];

/** Which pages, in which window, and what the names of their pictures end in. */
type Taken = { pages: SamplePage[]; theme: 'light' | 'dark'; viewport: typeof DESK; suffix: string };

/** `/dashboard/servers/:serverId/votes` becomes `server-votes`, and `/operator/servers/:serverId` `operator-server`. */
function nameOf({ route }: SamplePage): string {
  return route
    .replace('/dashboard/servers/:serverId', '/server')
    .replace('people/:personId', 'person')
    .replace(/s\/:\w+Id/, '')
    .slice(1)
    .replaceAll('/', '-');
}

async function signIn(page: Page, url: string, { email, password }: { email: string; password: string }) {
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Takes every page of `pages` in one window, signed in as each reader in turn. */
async function takeAll(
  browser: Browser,
  url: string,
  listing: SampleListing,
  { pages, theme, viewport, suffix }: Taken,
): Promise<void> {
  const options: BrowserContextOptions = { colorScheme: theme, viewport };
  for (const reader of ['stranger', 'owner', 'operator'] as const) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    if (reader !== 'stranger') await signIn(page, url, listing.people[reader]);
    for (const one of pages.filter((one) => one.reader === reader)) {
      await page.goto(`${url}${one.path(listing)}`);
      await page.screenshot({ path: join(FOLDER, `${nameOf(one)}${suffix}.png`) });
    }
    await context.close();
  }
}

/** The platform with its listing; what is opened puts how it ends on `ends`. */
async function open(ends: (() => Promise<unknown>)[]): Promise<{ url: string; listing: SampleListing }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tallyport-screenshots-'));
  ends.push(() => rm(dataDir, { recursive: true, force: true }));
  const env = {
    ...ownEnvironment(),
    DATA_DIR: dataDir,
    LOG_LEVEL: 'error',
    PORT: '0',
    PUBLIC_URL: 'http://localhost:0',
    ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
    OPERATOR_TWO_FACTOR: 'optional',
  };
  const { config, url, stop } = await startAllInOne(loadConfig(env), { log: console.log, env });
  ends.push(stop);
  const platform = await openPlatform(config, 'screenshots');
  ends.push(() => platform.close());
  const { listing, close } = await fillListing(platform);
  ends.push(close);
  return { url, listing };
}

const executablePath = findChromium(ownEnvironment());
if (!executablePath) throw new Error('no Chromium on PATH: install one, or name it in CHROMIUM');
const ends: (() => Promise<unknown>)[] = [];
try {
  const { url, listing } = await open(ends);
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  ends.push(() => browser.close());
  await mkdir(FOLDER, { recursive: true });
  const shown = PAGES.filter(({ status = 200 }) => status === 200);
  const take = (taken: Omit<Taken, 'pages'>, pages = shown) =>
    takeAll(browser, url, listing, { ...taken, pages });
  await take({ theme: 'light', viewport: DESK, suffix: '' });
  await take({ theme: 'dark', viewport: DESK, suffix: '-dark' });
  const small = shown.filter(({ route }) => ON_A_PHONE.includes(route));
  await take({ theme: 'light', viewport: PHONE, suffix: '-phone' }, small);
  console.log(`The screenshots are in ${FOLDER}`);
} finally {
  for (const end of ends.toReversed()) await end();
}
