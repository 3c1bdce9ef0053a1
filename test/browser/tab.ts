import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium as launcher, type Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import { once } from '../../src/platform/once.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import type { SignedInUser } from '../support/sign-in.ts';
import { FLAGS } from './browser-flags.ts';

const require = createRequire(import.meta.url);

/** The maximum size of a page with all its files but without its pictures, in transferred bytes. */
const PAGE_LIMIT_BYTES = 100 * 1_024;

/** The axe rules whose result depends on window size, theme or language. */
const RULES_OF_VARIANTS = [
  'color-contrast',
  'link-in-text-block',
  'target-size',
  'scrollable-region-focusable',
  'html-has-lang',
  'html-lang-valid',
  'valid-lang',
  'page-has-heading-one',
];

/**
 * Which axe rules are checked. `variant`: only `RULES_OF_VARIANTS`, for a page that has passed all rules in another
 * window, theme or language. `none`: neither axe nor the width, for a path that another test takes with all rules.
 */
export type AccessibilityRules = 'all' | 'variant' | 'none';

/**
 * Options of a tab: those of its context, and the rules of its checks. `variant` is for a test in another window or theme,
 * where the same test in a tab with scripts applies all.
 */
export type TabOptions = BrowserContextOptions & { rules?: AccessibilityRules };

/** The window in which most is different: the theme and the size. */
export const DARK_PHONE = { colorScheme: 'dark', viewport: { width: 390, height: 844 } } as const;

/** A browser tab that shows the site. */
export type Tab = {
  page: Page;
  /** Opens a path of the site. */
  open(path: string): Promise<void>;
  /** Signs a user in for all further pages. */
  signInHere(user: Pick<SignedInUser, 'headers'>): Promise<void>;
  /**
   * Fails if a page has an accessibility error or an id twice, is too large or too wide, or made a request to another
   * host.
   */
  check(rules?: AccessibilityRules): Promise<void>;
  /** Checks the page, then the same page in the dark on a phone with the rules that can differ there. */
  checkInBothWindows(): Promise<void>;
  /**
   * From now on, axe is loaded together with each page. Loading it with the page takes a third of the time that
   * `check` needs to load it afterwards.
   */
  checkEachPage(): Promise<void>;
};

/** The path of the browser; absent if there is none. For `describe.skipIf(!chromium)`. */
export const chromium = inject('chromium');

/** The browser of this vitest worker, which ends with its process. Tabs share nothing in it (see `openTab`). */
export const launchBrowser = once(() => launcher.launch({ executablePath: chromium ?? '', args: FLAGS }));

/**
 * Opens a tab with its own storage for the site at `url`. A request to another site fails the test.
 *
 * @param options - such as `{ javaScriptEnabled: false }` or `{ viewport: { width: 390, height: 844 } }`
 */
export async function openTab(
  browser: Browser,
  url: string,
  { rules: rulesOfTab = 'all', ...options }: TabOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ permissions: ['clipboard-write'], ...options });
  atTheEnd(() => context.close());
  const page = await context.newPage();
  const foreign: string[] = [];
  page.on('request', (request) => {
    const requested = request.url();
    if (!requested.startsWith(url) && !requested.startsWith('data:')) foreign.push(requested);
  });
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) errors.push(message.text());
  });
  const weight = await weighing(page);
  const path = () => page.url().slice(url.length);
  const checkEachPage = once(async () => context.addInitScript(await axeSource()));

  const tab: Tab = {
    page,
    async open(path) {
      await page.goto(`${url}${path}`);
    },
    signInHere: (user) => context.addCookies(cookiesOf(user, url)),
    async checkEachPage() {
      await checkEachPage();
    },
    async check(rules = rulesOfTab) {
      // Wait for the styles: a page may be ready before they are loaded.
      await page.waitForLoadState('load');
      expect(foreign, path()).toEqual([]);
      expect(errors, path()).toEqual([]);
      // The style guide shows every part twice, and only in development.
      if (!path().includes('/styleguide')) expect(weight(), path()).toBeLessThan(PAGE_LIMIT_BYTES);
      if (options.javaScriptEnabled === false || rules === 'none') return;
      expect(await faults(page, rules), path()).toEqual(NO_FAULTS);
      // A tab is mostly checked on several pages.
      await checkEachPage();
    },
    async checkInBothWindows() {
      const wide = page.viewportSize();
      await tab.check();
      await page.emulateMedia({ colorScheme: DARK_PHONE.colorScheme });
      await page.setViewportSize(DARK_PHONE.viewport);
      await tab.check('variant');
      await page.emulateMedia({ colorScheme: null });
      if (wide) await page.setViewportSize(wide);
    },
  };
  return tab;
}

function cookiesOf({ headers }: Pick<SignedInUser, 'headers'>, url: string) {
  return headers.cookie.split('; ').map((cookie) => {
    const [name = '', value = ''] = cookie.split(/=(.*)/);
    return { name, value, url };
  });
}

/**
 * Counts the transferred bytes of the current page, compressed and with headers: without its pictures, and without what
 * its scripts fetch later. A page of deliveries refreshes itself, on a busy machine more often before it is checked. A file
 * from the browser's cache counts as when it was transferred.
 */
async function weighing(page: Page): Promise<() => number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const sizes = new Map<string, number>();
  const weighed = new Map<string, string>();
  let bytes = 0;
  session.on('Network.requestWillBeSent', ({ requestId, type, request }) => {
    if (type === 'Document') bytes = 0;
    if (type !== 'Image' && type !== 'Fetch') weighed.set(requestId, request.url);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const url = weighed.get(requestId);
    if (url === undefined) return;
    const size = encodedDataLength || (sizes.get(url) ?? 0);
    sizes.set(url, size);
    bytes += size;
  });
  return () => bytes;
}

/** In characters. Longer buttons are sentences. */
const LONGEST_ON_ONE_LINE = 24;

/** What `check` looks for in a page itself. */
const NO_FAULTS = { overflow: [], repeatedIds: [], wrappedButtons: [], accessibility: [] };

/** Looks for faults in one script, because each further call costs this process and the browser. */
async function faults(page: Page, rules: AccessibilityRules): Promise<typeof NO_FAULTS> {
  const options = {
    resultTypes: ['violations'],
    preload: false,
    ...(rules === 'variant' ? { runOnly: RULES_OF_VARIANTS } : {}),
  };
  const script = `(async () => 'axe' in globalThis ? {
    overflow: ${OVERFLOW},
    repeatedIds: ${REPEATED_IDS},
    wrappedButtons: ${WRAPPED_BUTTONS},
    accessibility: (await axe.run(${JSON.stringify(options)})).violations.map(
      ({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | '),
    ),
  } : null)()`;
  const look = () => page.evaluate<typeof NO_FAULTS | null>(script);
  let found = await look();
  if (!found) {
    await page.evaluate(await axeSource());
    found = await look();
  }
  if (!found) throw new Error('axe is not loaded');
  return found;
}

/** Elements that overflow the page to the right. */
const OVERFLOW = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const wide = [...document.querySelectorAll('main *')].filter(
    (one) => one.getBoundingClientRect().right > clientWidth + 1,
  );
  return [scrollWidth + ' of ' + clientWidth, ...wide.slice(0, 5).map((one) => one.outerHTML.slice(0, 160))];
})()`;

/** The ids that several elements have: labels and links would meet only the first of them. */
const REPEATED_IDS = `(() => {
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  return ids.filter((id, index) => ids.indexOf(id) !== index);
})()`;

/** Buttons of a few words whose text has two lines. */
const WRAPPED_BUTTONS = `(() => {
  const lines = (one) => {
    const texts = [...one.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
    const tops = texts.flatMap((text) => {
      const range = document.createRange();
      range.selectNodeContents(text);
      return [...range.getClientRects()].filter(({ width }) => width > 1).map(({ bottom }) => bottom);
    });
    return tops.length > 0 && Math.max(...tops) - Math.min(...tops) > 12;
  };
  return [...document.querySelectorAll('main button, main a.button, .site-head a')]
    .filter((one) => one.checkVisibility() && one.innerText.trim().length <= ${LONGEST_ON_ONE_LINE} && lines(one))
    .map((one) => one.outerHTML.slice(0, 160));
})()`;

let axe: Promise<string> | undefined;

function axeSource(): Promise<string> {
  axe ??= import('node:fs/promises').then(({ readFile }) =>
    readFile(require.resolve('axe-core/axe.min.js'), 'utf8'),
  );
  return axe;
}
