import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';

const require = createRequire(import.meta.url);

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** No page of ours may cost more than this, all of its files together, as they come over the line. */
const PAGE_LIMIT_BYTES = 100 * 1_024;

/** A person at a browser. */
export type Visit = {
  page: Page;
  /** Opens a path of the site. */
  open(path: string): Promise<void>;
  /** Fails where a page has an accessibility fault, is too heavy, or asked another host for anything. */
  check(): Promise<void>;
};

/** Starts the browser; closed when the test ends, or by whoever asked outside a test. */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: FLAGS });
}

/**
 * Opens a window on the site at `url`. Every page that it shows must come from there alone.
 *
 * @param options - such as `{ javaScriptEnabled: false }` or `{ viewport: { width: 390, height: 844 } }`
 */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ permissions: ['clipboard-write'], ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const foreign: string[] = [];
  page.on('request', (request) => {
    const asked = request.url();
    if (!asked.startsWith(url) && !asked.startsWith('data:')) foreign.push(asked);
  });
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) faults.push(message.text());
  });
  const weigh = await weighing(page);
  const path = () => page.url().slice(url.length);

  return {
    page,
    async open(path) {
      weigh.reset();
      await page.goto(`${url}${path}`);
    },
    async check() {
      expect(foreign, path()).toEqual([]);
      expect(faults, path()).toEqual([]);
      expect(weigh.bytes(), path()).toBeLessThan(PAGE_LIMIT_BYTES);
      if (options.javaScriptEnabled !== false) expect(await accessibilityFaults(page), path()).toEqual([]);
    },
  };
}

/** Counts what comes over the line, compressed as it is, headers included. */
async function weighing(page: Page): Promise<{ reset(): void; bytes(): number }> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  return {
    reset() {
      bytes = 0;
    },
    bytes: () => bytes,
  };
}

/** What axe finds wrong: the rule and the elements. */
async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(await axeSource());
  const { violations } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    return axe.run();
  });
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  );
}

type Violation = { id: string; nodes: { html: string }[] };

let axe: Promise<string> | undefined;

function axeSource(): Promise<string> {
  axe ??= import('node:fs/promises').then(({ readFile }) =>
    readFile(require.resolve('axe-core/axe.min.js'), 'utf8'),
  );
  return axe;
}

/** The browser's path, for `describe.skipIf(!found)`. */
export function browserPath(): string | null {
  return inject('chromium');
}
