/**
 * `npm run screenshots`: starts the platform with sample data and saves a screenshot of each page in `docs/screenshots/`,
 * in light and dark, some also in phone size. Public pages show the demo's servers. `npm run screenshots -- public` takes
 * only public pages, `-- own` those of users, `-- queues` Bull Board.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { startAllInOne } from '../../src/all-in-one/start.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { type AppDeps, openAppDeps } from '../../src/process/app-deps.ts';
import { FLAGS } from './browser-flags.ts';
import { fillWithSamples } from './fill-with-samples.ts';
import { findChromium } from './find-chromium.ts';
import { fillQueues } from './queues-at-work.ts';
import { fillListing, type SampleListing } from './sample-listing.ts';
import { PAGES, type SamplePage } from './sample-pages.ts';

const FOLDER = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url));

const ADMIN_AREA = { width: 1200, height: 720 };
const PHONE = { width: 390, height: 844 };

/** The pages that are also shown in phone size. */
const ON_A_PHONE = [
  '/',
  '/dashboard',
  '/dashboard/servers/:serverId',
  '/dashboard/servers/:serverId/votes',
  '/operator',
];

/** The public pages: name and path. */
const PUBLIC_PAGES = {
  ranking: '/',
  'ranking-filtered': '/games/minecraft?online=yes',
  'ranking-search': '/?q=harbor+lihgts',
  'how-ranking-works': '/how-ranking-works?server=harbour-lights',
  'public-server': '/servers/harbour-lights',
  vote: '/servers/harbour-lights/vote?username=Steve',
  docs: '/docs/',
};

const isPublic = (route: string) => route === '/' || /^\/(how-|servers\/)/.test(route);

const WINDOWS = [
  ['', 'light', ADMIN_AREA],
  ['-dark', 'dark', ADMIN_AREA],
  ['-phone', 'light', PHONE],
] as const;

/** Functions that clean up. They run in reverse order. */
type Ends = (() => Promise<unknown>)[];

/** What a run saves: the pages, the window, and the suffix of the file names. */
type Taken = { pages: SamplePage[]; theme: 'light' | 'dark'; viewport: typeof ADMIN_AREA; suffix: string };

/**
 * The file name of a page: `server-votes` for `/dashboard/servers/:serverId/votes`, `operator-server` for
 * `/operator/servers/:serverId`.
 */
function nameOf({ route }: SamplePage): string {
  return route
    .replace('/servers/:slug', '/public-server')
    .replace('/dashboard/servers/:serverId', '/server')
    .replace('users/:userId', 'user')
    .replace(/s\/:\w+Id/, '')
    .slice(1)
    .replaceAll('/', '-')
    .replace(/^$/, 'ranking');
}

async function signIn(page: Page, url: string, { email, password }: { email: string; password: string }) {
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Saves screenshots of all `pages` in one window, signed in as each reader in turn. */
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
    if (reader !== 'stranger') await signIn(page, url, listing.users[reader]);
    for (const one of pages.filter((one) => one.reader === reader)) {
      await page.goto(`${url}${one.path(listing)}`);
      await page.screenshot({ path: join(FOLDER, `${nameOf(one)}${suffix}.png`) });
    }
    await context.close();
  }
}

/** Starts the platform in a new folder. Adds its cleanup to `ends`. */
async function open(ends: Ends): Promise<{ url: string; deps: AppDeps }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tallyport-screenshots-'));
  ends.push(() => rm(dataDir, { recursive: true, force: true }));
  const env = {
    ...ownEnvironment(),
    DATA_DIR: dataDir,
    LOG_LEVEL: 'error',
    PORT: '0',
    METRICS_PORT: '0',
    PUBLIC_URL: 'http://localhost:0',
    ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
    DESTINATION_LIMIT: '1000000',
    ACCOUNT_LIMIT: '1000000',
    OPERATOR_TWO_FACTOR: 'optional',
    SITE_PAGES_DIR: fileURLToPath(new URL('site-pages', import.meta.url)),
  };
  const { config, url, stop } = await startAllInOne(loadConfig(env), { log: console.log, env });
  ends.push(stop);
  const deps = await openAppDeps(config, 'screenshots');
  ends.push(() => deps.close());
  return { url, deps };
}

/** Saves the pages of owners and operators, and the sign-in page. */
async function takeOwnPages(browser: Browser, ends: Ends): Promise<void> {
  const { url, deps } = await open(ends);
  const { listing, close } = await fillListing(deps);
  ends.push(close);
  const shown = PAGES.filter(({ route, status = 200 }) => status === 200 && !isPublic(route));
  const take = (taken: Omit<Taken, 'pages'>, pages = shown) =>
    takeAll(browser, url, listing, { ...taken, pages });
  await take({ theme: 'light', viewport: ADMIN_AREA, suffix: '' });
  await take({ theme: 'dark', viewport: ADMIN_AREA, suffix: '-dark' });
  const small = shown.filter(({ route }) => ON_A_PHONE.includes(route));
  await take({ theme: 'light', viewport: PHONE, suffix: '-phone' }, small);
}

/** Saves the public pages. */
async function takePublicPages(browser: Browser, ends: Ends): Promise<void> {
  const { url, deps } = await open(ends);
  ends.push(await fillWithSamples(deps));
  for (const [name, path] of Object.entries(PUBLIC_PAGES)) {
    for (const [suffix, colorScheme, viewport] of WINDOWS) {
      const context = await browser.newContext({ colorScheme, viewport });
      const page = await context.newPage();
      // The API reference is drawn by its script.
      await page.goto(`${url}${path}`, { waitUntil: 'networkidle' });
      await page.screenshot({ path: join(FOLDER, `${name}${suffix}.png`) });
      await context.close();
    }
  }
}

/** Saves Bull Board while one listener is down, one is tested, and one drains a backlog. */
async function takeQueues(browser: Browser, ends: Ends): Promise<void> {
  const { url, deps } = await open(ends);
  const { listing, close } = await fillListing(deps);
  ends.push(close);
  const page = await browser.newPage({ viewport: ADMIN_AREA });
  ends.push(() => page.close());
  await signIn(page, url, listing.users.operator);
  ends.push(await fillQueues(deps));
  const board = `${url}/operator/queues`;
  const pages = {
    queues: board,
    'queues-down': `${board}/queue/test-listeners?status=delayed`,
    'queues-under-test': `${board}/queue/test-listeners?status=active`,
    'queues-draining': `${board}/queue/drain-backlogs?status=active`,
  };
  for (const [name, address] of Object.entries(pages)) {
    await page.goto(address, { waitUntil: 'networkidle' });
    await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  }
}

const executablePath = findChromium(ownEnvironment());
if (!executablePath) throw new Error('no Chromium on PATH: install one, or name it in CHROMIUM');
const ends: Ends = [];
try {
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  ends.push(() => browser.close());
  await mkdir(FOLDER, { recursive: true });
  const wanted = process.argv[2];
  for (const [which, take] of Object.entries({
    own: takeOwnPages,
    public: takePublicPages,
    queues: takeQueues,
  })) {
    if (wanted && wanted !== which) continue;
    const its: Ends = [];
    try {
      await take(browser, its);
    } finally {
      for (const end of its.toReversed()) await end();
    }
  }
  console.log(`The screenshots are in ${FOLDER}`);
} finally {
  for (const end of ends.toReversed()) await end();
}
