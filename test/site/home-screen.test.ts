import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { storePicture } from '../../src/servers/pictures.ts';
import { getPage, openWebApp, type WebApp } from '../support/web-app.ts';

type Icon = { src: string; sizes: string; type: string; purpose: string };
type Manifest = { icons: Icon[]; [member: string]: unknown };

let web: WebApp;

beforeAll(async () => {
  web = await openWebApp();
});

const manifestOf = async (site: WebApp) => {
  const answer = await getPage(site, '/manifest.webmanifest');
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([
    200,
    'application/manifest+json; charset=utf-8',
  ]);
  return answer.json<Manifest>();
};
const pixel = async (png: Buffer, x: number, y: number) => {
  const { data, info } = await sharp(png).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return [...data.subarray(4 * (y * info.width + x), 4 * (y * info.width + x) + 4)];
};

test('each page names the manifest, and its policy allows it', async () => {
  const { body, headers } = await getPage(web, '/');
  expect(body).toContain('<link rel="manifest" href="/manifest.webmanifest" />');
  expect(headers['content-security-policy']).toContain("manifest-src 'self'");
});

test.each([
  ['', 'http://127.0.0.1:3000', {}, [0x12, 0x65, 0x6b, 255]],
  ['/listing', 'http://127.0.0.1:3000/listing', { ACCENT_COLOUR: '#8a1c1c' }, [0x8a, 0x1c, 0x1c, 255]],
])('the manifest of a site at “%s” has its name, its addresses and its icons in its colour', async (base, PUBLIC_URL, look, ground) => {
  const site = await openWebApp({ PUBLIC_URL, SERVICE_NAME: 'Votes “A”', ...look });
  const { icons, ...manifest } = await manifestOf(site);
  const home = `${base}/`;
  expect(manifest).toMatchObject({ name: 'Votes “A”', id: home, start_url: home, scope: home });
  expect(manifest).toMatchObject({
    display: 'standalone',
    theme_color: expect.stringMatching(/^#[\da-f]{6}$/),
  });
  expect(icons.map(({ sizes, purpose }) => [sizes, purpose])).toEqual([
    ['192x192', 'any'],
    ['512x512', 'any'],
    ['512x512', 'maskable'],
  ]);
  for (const { src, sizes, type, purpose } of icons) {
    const { rawPayload, headers } = await site.app.inject(src);
    const { format, width, height } = await sharp(rawPayload).metadata();
    expect([headers['content-type'], format, `${width}x${height}`]).toEqual([type, 'png', sizes]);
    const side = width - 1;
    expect(await pixel(rawPayload, Math.round(0.06 * side), Math.round(0.5 * side))).toEqual(ground);
    // The logo is white in the middle of its tally. Only the maskable ground reaches the corners.
    expect(await pixel(rawPayload, Math.round(0.5 * side), Math.round(0.5 * side))).not.toEqual(ground);
    expect((await pixel(rawPayload, 0, 0))[3]).toBe(purpose === 'maskable' ? 255 : 0);
  }
});

test('an accent icon of another name or colour is not found', async () => {
  for (const path of ['0f6168/hero.webp', '0f616/icon-192.png', '0f6168/icon-1.png'])
    expect((await web.app.inject(`/assets/accent/${path}`)).statusCode, path).toBe(404);
});

test('the operator’s own logo is the icon, on the ground of the head', async () => {
  const red = await sharp({ create: { width: 96, height: 96, channels: 3, background: '#f00' } })
    .png()
    .toBuffer();
  const folder = await mkdtemp(join(tmpdir(), 'home-screen-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const LOGO = join(folder, 'logo.png');
  await writeFile(LOGO, red);
  const ofFile = await openWebApp({ LOGO });
  const uploaded = await openWebApp();
  const bytes = await sharp(red).webp({ lossless: true }).toBuffer();
  const id = await storePicture(uploaded.deps, bytes);
  uploaded.deps.config.LOGO_PICTURE = { id, width: 96, height: 96 };
  for (const site of [ofFile, uploaded]) {
    const { icons } = await manifestOf(site);
    expect(icons.map(({ purpose, sizes, type }) => [purpose, sizes, type])).toEqual([
      ['any', 'any', 'image/svg+xml'],
      ['maskable', 'any', 'image/svg+xml'],
    ]);
    const { body, headers, statusCode } = await site.app.inject(icons[0]?.src ?? '');
    expect([statusCode, headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect(headers['content-security-policy']).toContain('sandbox');
    const [, data = ''] = /href="data:image\/\w+;base64,([^"]+)"/.exec(body) ?? [];
    const { width, format } = await sharp(Buffer.from(data, 'base64')).metadata();
    expect([width, format]).toEqual([96, site === ofFile ? 'png' : 'webp']);
    expect(body).toContain('fill="#0c3b41"');
  }
  expect((await web.app.inject('/app-icon.svg')).statusCode).toBe(404);
});

test('the service worker is checked at each visit, and changes with what the offline page shows', async () => {
  const { headers, body } = await web.app.inject('/service-worker.js');
  expect(headers['content-type']).toContain('text/javascript');
  expect(headers['cache-control']).toBe('no-cache');
  const etag = String(headers.etag);
  const again = await web.app.inject({ url: '/service-worker.js', headers: { 'if-none-match': etag } });
  expect(again.statusCode).toBe(304);
  const other = await openWebApp({ SERVICE_NAME: 'Another name' });
  expect((await other.app.inject('/service-worker.js')).body).not.toBe(body);
  const offline = await getPage(web, '/offline');
  expect([offline.statusCode, offline.body.includes('Your device is offline.')]).toEqual([200, true]);
  expect(offline.body).not.toContain('/sign-in');
});

test('the time of the site is sent without being stored', async () => {
  const { body, headers } = await web.app.inject('/time');
  expect(Math.abs(Number(body) - Date.now())).toBeLessThan(5_000);
  expect(headers['cache-control']).toBe('no-store');
});
