import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ObjectId } from 'mongodb';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { addServer, editServer } from '../../src/servers/listed-servers.ts';
import { insert, probes } from '../history/samples.ts';
import { signIn } from '../support/sign-in.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { chromium, DARK_PHONE, launchBrowser, openTab, type Tab, type TabOptions } from './tab.ts';

/** Lists a server with history that was renamed later. */
async function listServer({ deps }: RunningSite, name: string): Promise<ObjectId> {
  const address = { address: 'play.example.org', port: 1_024 + Math.floor(Math.random() * 50_000) };
  const added = await addServer(deps, { name: `Former ${name}`, ...address }, 'test');
  const serverId = new ObjectId(added.serverId);
  const from = new Date(deps.clock.now().getTime() - 30 * 3_600_000).toISOString();
  await insert(deps, probes(serverId, from, 100, { onlinePlayers: 31, latencyMs: 12 }));
  await deps.servers.updateOne(
    { _id: serverId },
    { $set: { 'current.motd': '§6Gold §lbold\n§0black §1blue §4red §5purple §8gray' } },
  );
  await editServer(deps, serverId, { name }, 'test');
  return serverId;
}

/** Presses Tab until the element whose text matches `text` has the focus. */
async function tabTo({ page }: Tab, text: RegExp): Promise<void> {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(
      `(() => { const e = document.activeElement; return (e.labels?.[0]?.textContent ?? e.textContent ?? '').trim(); })()`,
    );
    if (text.test(String(focused))) return;
  }
  throw new Error(`Tab does not reach ${text}`);
}

async function writeByKeyboard(tab: Tab): Promise<void> {
  const { page } = tab;
  const { keyboard } = page;
  await tabTo(tab, /^Write a review$/);
  await keyboard.press('Enter');
  await page.waitForURL(/form=open/);
  await tabTo(tab, /^Stars for/);
  await keyboard.type('4');
  await tabTo(tab, /^Review \(optional\)/);
  await keyboard.type('Kind people.');
  await tabTo(tab, /^Submit review/);
  await keyboard.press('Enter');
}

async function writeByHand({ page }: Tab): Promise<void> {
  await page.locator('#your-review summary').click();
  await page.getByLabel('Stars for').selectOption('4');
  await page.getByLabel('Review (optional)').fill('Kind people.');
  await page.getByRole('button', { name: 'Submit review' }).click();
}

describe.skipIf(!chromium)('a server’s page, in a browser', () => {
  let site: RunningSite;
  let browser: Browser;

  beforeAll(async () => {
    site = await startSite();
    browser = await launchBrowser();
  });

  test.each<[string, TabOptions, (tab: Tab) => Promise<void>]>([
    ['by keyboard alone', {}, writeByKeyboard],
    ['without JavaScript', { javaScriptEnabled: false }, writeByHand],
    ['on a phone, in the dark', { ...DARK_PHONE, rules: 'variant' }, writeByHand],
  ])('is found by its old address, read, and reviewed, %s', async (how, options, write) => {
    const name = `Bay ${how}`;
    const serverId = await listServer(site, name);
    const slug = name.toLowerCase().replace(/[^a-z]+/g, '-');
    const tab = await openTab(browser, site.url, options);
    const { page, open, check, signInHere } = tab;

    await open(`/servers/former-${slug}`);
    expect(page.url()).toBe(`${site.url}/servers/${slug}`);
    await page.getByRole('heading', { level: 1, name }).waitFor();
    expect(await page.locator('.motd').textContent()).toBe('Gold boldblack blue red purple gray');
    expect(await page.locator('#players .chart-plot').getAttribute('data-texts')).toMatch(/: 31\n/);
    await page.locator('#players summary').click();
    expect(await page.locator('#players table').textContent()).toContain('31');
    await page.getByRole('link', { name: '30 days' }).click();
    await page.getByRole('img', { name: 'Players: 30 days' }).waitFor();
    await check();

    await signInHere(await signIn(site));
    await open(`/servers/${slug}`);
    await write(tab);
    await page.getByText('Review saved.').waitFor();
    await page.getByText('waiting for approval').waitFor();
    const listed = page.locator('#reviews .reviews > li').filter({ hasText: 'Kind people.' });
    expect(await listed.count()).toBe(0);
    await check();

    const review = await site.deps.reviews.findOne({ serverId });
    await moderateReview(site.deps, review?._id ?? new ObjectId(), 'approved', 'test');
    await open(`/servers/${slug}`);
    expect(await listed.count()).toBe(1);
  });

  test('a touch shows a value of the chart, with times in the visitor’s zone and UTC beside them', async () => {
    await listServer(site, 'Touched');
    const { page, open } = await openTab(browser, site.url, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      timezoneId: 'Asia/Kolkata',
      locale: 'en-GB',
    });
    await open('/servers/touched');
    const value = page.locator('#players .chart-value');
    expect(await value.textContent()).toBe('Touch the chart to read its values.');
    const chart = page.locator('#players svg.chart');
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    await page.touchscreen.tap((box?.x ?? 0) + (box?.width ?? 0) * 0.1, (box?.y ?? 0) + 40);
    await expect.poll(() => value.textContent()).toMatch(/:[03]0 \(\d+ \w+, \d\d:[03]0 UTC\): 31$/);
    const [, minute, utcMinute] = /:(\d\d) \(.*:(\d\d) UTC/.exec((await value.textContent()) ?? '') ?? [];
    // India is 5 hours and 30 minutes ahead of UTC.
    expect(minute).not.toBe(utcMinute);
    expect(await page.locator('[data-zone]').textContent()).toMatch(/Asia\/(Kolkata|Calcutta)/);
    const from = page.locator('#players .chart-numbers time').first();
    expect(await from.getAttribute('title')).toMatch(/ UTC$/);
    expect(await from.textContent()).not.toBe(await from.getAttribute('title'));
    // The value is below the figures and the links to other times.
    const [head, told] = [await page.locator('#players header').boundingBox(), await value.boundingBox()];
    expect(told?.y).toBeGreaterThanOrEqual((head?.y ?? 0) + (head?.height ?? Infinity));
  });

  test('links are targets of 24 px, and a sentence from right to left starts at the edge of the name', async () => {
    const serverId = await listServer(site, 'مملكة البحر');
    const profile = { shortText: 'أفضل خادم للبقاء', website: 'https://example.org/', tags: [] };
    const server = await site.deps.servers.findOneAndUpdate({ _id: serverId }, { $set: { profile } });
    const { page, open, check } = await openTab(browser, site.url);
    await open(`/servers/${server?.slug ?? ''}`);
    const links = page.locator(
      '.ident .meta a, .key-figures a, .about-facts a, .remarks a, .chart-numbers summary',
    );
    expect(await links.count()).toBeGreaterThan(2);
    for (const link of await links.all()) {
      const box = await link.boundingBox();
      if (box) expect(box.height, (await link.textContent()) ?? '').toBeGreaterThanOrEqual(24);
    }
    const start = async (css: string) =>
      Number(
        await page.evaluate(
          `(() => { const range = document.createRange(); range.selectNodeContents(document.querySelector('${css}')); return range.getBoundingClientRect().left; })()`,
        ),
      );
    for (const width of [1_280, 800]) {
      await page.setViewportSize({ width, height: 844 });
      expect(
        Math.abs((await start('.ident h1 bdi')) - (await start('.ident .line'))),
        String(width),
      ).toBeLessThan(4);
    }
    await check();
  });

  test('the pointer and the arrow keys read the values of a chart, and its labels are at their grid lines', async () => {
    await listServer(site, 'Charted');
    const { page, open, check } = await openTab(browser, site.url);
    await open('/servers/charted');
    const value = page.locator('#players .chart-value');
    const plot = page.locator('#players .chart-plot');
    await plot.scrollIntoViewIfNeeded();
    expect(await value.isVisible()).toBe(false);
    const box = await plot.boundingBox();
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) * 0.1, (box?.y ?? 0) + 60);
    await expect.poll(() => value.textContent()).toMatch(/UTC\): 31$/);
    await page.mouse.move(0, 0);
    await expect.poll(() => value.isVisible()).toBe(false);

    const reader = page.getByRole('slider', { name: 'Values: Players: 48 hours' });
    await reader.focus();
    const last = await reader.getAttribute('aria-valuetext');
    expect(await value.textContent()).toBe(last);
    await page.keyboard.press('ArrowLeft');
    expect(await reader.getAttribute('aria-valuetext')).not.toBe(last);
    expect(await value.textContent()).toBe(await reader.getAttribute('aria-valuetext'));
    await page.keyboard.press('Home');
    expect(await value.textContent()).toMatch(/UTC\): 31$/);

    const places = (selector: string) =>
      page.evaluate<number[]>(
        `[...document.querySelectorAll('#players ${selector}')].map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => Math.round((top + bottom) / 2))`,
      );
    const [lines, labels] = [await places('.grid'), await places('.chart-scale text')];
    expect(lines.length).toBeGreaterThan(2);
    expect(labels.map((label, index) => Math.abs(label - (lines[index] ?? 0)) <= 2)).toEqual(
      lines.map(() => true),
    );
    await check();
  });

  test('on a phone, a bar copies the address and leads to the form; it hides while one writes, and never covers the footer', async () => {
    await listServer(site, 'Docked');
    const { page, open } = await openTab(browser, site.url, { viewport: { width: 390, height: 844 } });
    await open('/servers/docked');
    const bar = page.getByRole('region', { name: 'Join or vote' });
    await bar.getByRole('button', { name: 'Copy address' }).click();
    await bar.getByText('Copied').waitFor();
    await bar.getByRole('link', { name: 'Vote' }).click();
    const field = page.locator('#vote input').first();
    await expect.poll(async () => (await field.boundingBox())?.y ?? Infinity).toBeLessThan(844);
    await field.focus();
    expect(await bar.isVisible()).toBe(false);
    await field.blur();
    expect(await bar.isVisible()).toBe(true);
    await page.locator('.site-foot').scrollIntoViewIfNeeded();
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    const [foot, end] = [await page.locator('.site-foot').boundingBox(), await bar.boundingBox()];
    expect((end?.y ?? 0) + (end?.height ?? 0)).toBeLessThanOrEqual((foot?.y ?? 0) + 1);
  });

  test('signed in, the labels of the vote form and the review form meet their own fields', async () => {
    await listServer(site, 'Labelled');
    const { page, open, signInHere } = await openTab(browser, site.url);
    await signInHere(await signIn(site));
    await open('/servers/labelled');
    await page.locator('#your-review summary').click();
    await page.locator('#your-review').getByText('Displayed name').click();
    expect(await page.evaluate(`document.activeElement.closest('form').action`)).toMatch(/\/review$/);
    await page.locator('#vote').getByText('Your player name').click();
    expect(await page.evaluate(`document.activeElement.closest('form').action`)).toMatch(/\/vote$/);
  });

  test('a browser shows its images, also on another site’s page', async () => {
    await listServer(site, 'Pictured & <Framed>');
    const tab = await openTab(browser, site.url);
    const { page, open } = tab;
    await open('/servers/pictured-framed');
    await page.locator('#share summary').click();
    const widths = () =>
      page.evaluate<number[]>(
        `[...document.querySelectorAll('#share img')].map((image) => image.naturalWidth)`,
      );
    await expect.poll(async () => Math.min(...(await widths()))).toBeGreaterThan(50);
    expect(await widths()).toEqual([560, expect.any(Number)]);

    const images = `<img src="${site.url}/servers/pictured-framed/banner.svg"><img src="${site.url}/servers/former-pictured-framed/badge.svg">`;
    const forum = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end(images));
    await new Promise<void>((resolve) => forum.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void forum.close());
    const elsewhere = await browser.newPage();
    await elsewhere.goto(`http://127.0.0.1:${(forum.address() as AddressInfo).port}/`);
    const shown = () =>
      elsewhere.evaluate(`[...document.images].map((image) => image.complete && image.naturalWidth > 50)`);
    await expect.poll(shown).toEqual([true, true]);
    await elsewhere.close();
  });
});
