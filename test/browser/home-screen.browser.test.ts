import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { startSite } from './running-site.ts';
import { chromium, launchBrowser, openTab } from './tab.ts';

async function isInstallable(page: Page, url: string) {
  const session = await page.context().newCDPSession(page);
  const { errors, manifest } = await session.send('Page.getAppManifest');
  expect([errors, manifest?.startUrl]).toEqual([[], `${url}/`]);
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
  // The contexts of Playwright are incognito, where nothing can be installed.
  expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual(
    [],
  );
}

describe.skipIf(!chromium)('on a phone', () => {
  test('the site can be installed, and without a connection it says so until there is one', async () => {
    const site = await startSite();
    const tab = await openTab(await launchBrowser(), site.url, { viewport: { width: 390, height: 844 } });
    const { page, open, check } = tab;
    await open('/');
    await page.evaluate('navigator.serviceWorker.ready');
    await isInstallable(page, site.url);
    // Only the offline page is stored.
    const stored = await page.evaluate<string[]>(`(async () => {
      const caches = await Promise.all((await globalThis.caches.keys()).map((name) => globalThis.caches.open(name)));
      return (await Promise.all(caches.map((cache) => cache.keys()))).flat().map(({ url }) => url);
    })()`);
    expect(stored).toEqual([`${site.url}/offline`]);

    await page.context().setOffline(true);
    await open('/games');
    await page.getByRole('heading', { name: 'No connection' }).waitFor();
    expect(page.url()).toBe(`${site.url}/games`);
    await check();
    await page.context().setOffline(false);
    await page.getByRole('link', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Games' }).first().waitFor();
    expect(page.url()).toBe(`${site.url}/games`);
  });
  test('the site can be installed with the operator’s own logo, which the icon shows', async () => {
    const LOGO = fileURLToPath(new URL('../../src/site/look/games/minecraft.svg', import.meta.url));
    const site = await startSite({ LOGO });
    const { page, open } = await openTab(await launchBrowser(), site.url);
    await open('/');
    await isInstallable(page, site.url);
    const colours = await page.evaluate<number>(`(async () => {
      const { icons } = await (await fetch('/manifest.webmanifest')).json();
      const image = new Image();
      image.src = icons[0].src;
      await image.decode();
      const context = new OffscreenCanvas(64, 64).getContext('2d');
      context.drawImage(image, 0, 0, 64, 64);
      return new Set(new Uint32Array(context.getImageData(0, 0, 64, 64).data.buffer)).size;
    })()`);
    // The ground alone has one.
    expect(colours).toBeGreaterThan(1);
  });
});
