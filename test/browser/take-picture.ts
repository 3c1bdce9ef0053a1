import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { SHOWN_AT } from './picture-data.ts';
import type { Picture } from './pictures.ts';

type User = { email: string; password: string };

/** Opens a tab whose time stands still too. */
export async function openStillTab(browser: Browser, url: string, user?: User): Promise<Page> {
  const context = await browser.newContext({
    baseURL: url,
    locale: 'en-GB',
    timezoneId: 'UTC',
    deviceScaleFactor: 2,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  await page.clock.setFixedTime(SHOWN_AT);
  if (!user) return page;
  await page.goto('/sign-in');
  await page.getByLabel('E-mail address').fill(user.email);
  await page.getByLabel('Password').fill(user.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page;
}

/** Opens the page of a picture and waits until it is drawn. Returns what decides how it looks, as text. */
export async function openPicture(page: Page, path: string, picture: Picture): Promise<string> {
  const { window, from, drawn } = picture;
  const [width, height] = window;
  await page.setViewportSize({ width, height });
  const answer = await page.goto(path, { waitUntil: drawn ? 'networkidle' : 'load' });
  if (answer?.status() !== 200) throw new Error(`${path} was answered with ${answer?.status()}`);
  if (drawn) await page.getByText(drawn.text).first().waitFor();
  await untilDrawn(page);
  const look = drawn ? await lookOfDrawn(page, drawn.by, await answer.text()) : await lookOf(page);
  if (from) await page.evaluate(`document.querySelector(${JSON.stringify(from)}).scrollIntoView()`);
  return `${JSON.stringify({ window, from })}\n${look}`;
}

/** Waits for fonts, and for the pictures in the window. */
export async function untilDrawn(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    const isAwaited = (one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return !one.complete && bottom > 0 && top < innerHeight;
    };
    const loaded = (one) => new Promise((done) => { one.onload = done; one.onerror = done; });
    const pictures = [...document.images].filter(isAwaited).map(loaded);
    return Promise.all([document.fonts.ready, ...pictures]).then(() => undefined);
  })()`);
}

/** What decides how a page looks now: its elements, and the rules of its stylesheets that apply to any of them. */
export async function lookOf(page: Page): Promise<string> {
  await page.coverage.startCSSCoverage();
  // The coverage has the rules that are applied from now on, so all are applied again.
  await page.evaluate(`(() => {
    const { style } = document.documentElement;
    for (const display of ['none', '']) {
      style.display = display;
      document.documentElement.getBoundingClientRect();
    }
    if (!style.length) document.documentElement.removeAttribute('style');
  })()`);
  const sheets = await page.coverage.stopCSSCoverage();
  const rules = sheets.flatMap(({ text = '', ranges }) =>
    ranges.map(({ start, end }) => text.slice(start, end)),
  );
  return stable([await page.content(), ...new Set(rules.toSorted())].join('\n'));
}

/**
 * The same for a page that the script of a package draws, with ids of its own. Its look changes with its version. How
 * many jobs have ended, and so the number of a job, depends on how workers meet.
 */
async function lookOfDrawn(page: Page, by: string, answer: string): Promise<string> {
  const text = stable(await page.locator('body').innerText()).replaceAll(/(#|COMPLETED)( ?\d+)?/g, '$1');
  return `${versionOf(by)}\n${stable(answer)}\n${text}`;
}

/** What differs in each run: ids, times of real waits, and marks of parts that refresh themselves. */
const VOLATILE: [RegExp, string][] = [
  // The names of pictures are hashes of their bytes, which may differ by processor.
  [/\/pictures\/[0-9a-f]{64}/g, `/pictures/${drawings()}`],
  [/(?<![0-9a-z])[0-9a-f]{24}(?![0-9a-z])/g, 'id'],
  [/(?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-z])/g, 'uuid'],
  [/\?seen=[\w.-]+/g, ''],
  [/\b\d+ ms\b/g, 'some ms'],
  // A part that refreshes itself has such classes for a moment.
  [/ ?\bhtmx-(?:request|swapping|settling|added)\b| class=""/g, ''],
  // The rules of stylesheets are compared, and what scripts have drawn.
  [/(\/assets\/[\w-]+)\.[\w-]{12}(?=\.(?:css|js|woff2)\b)/g, '$1'],
  [/\?v=[\w-]{12}\b/g, ''],
  [/\s+/g, ' '],
];

function stable(text: string): string {
  return VOLATILE.reduce((changed, [pattern, instead]) => changed.replaceAll(pattern, instead), text);
}

/** A hash of what draws the banners and icons of the sample servers. */
function drawings(): string {
  const folder = fileURLToPath(new URL('../../src/demo/', import.meta.url));
  const files = globSync(['art/*', 'sample-pictures.ts'], { cwd: folder }).toSorted();
  return hashOf(files.map((file) => readFileSync(`${folder}${file}`, 'latin1')).join());
}

function versionOf(name: string): string {
  const manifest = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return `${name} ${JSON.parse(readFileSync(manifest, 'utf8')).version}`;
}

export function hashOf(look: string): string {
  return createHash('sha256').update(look).digest('base64url').slice(0, 24);
}
