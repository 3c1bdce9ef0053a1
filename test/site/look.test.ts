import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, constantFrom, integer, oneof, property, string } from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it, test } from 'vitest';
import { readTags } from '../../src/servers/tag-list.ts';
import { accentShades, contrast } from '../../src/site/look/accent.ts';
import { readLogo } from '../../src/site/look/logo.ts';
import { SvgError, svgSize } from '../../src/site/look/svg-size.ts';
import { initials, pixelPicture } from '../../src/site/shared/generated-pictures.ts';
import { bannerLink } from '../../src/site/shared/server-pictures.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { testDeps } from '../support/test-deps.ts';
import { getPage, openWebApp } from '../support/web-app.ts';

const folder = mkdtempSync(join(tmpdir(), 'look-'));
atTheEnd(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 4, background: '#ff0000' } });
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 32"><rect width="64" height="32"/></svg>';

describe('the accent', () => {
  it('keeps a colour that can be read, and moves others only as far as needed', () => {
    expect(accentShades('#0f6168').light.accent).toBe('#0f6168');
    expect(accentShades('#6fc7cc').dark.accent).toBe('#6fc7cc');
    expect(accentShades('#ffff00').dark.accent).toBe('#ffff00');
    expect(accentShades('#ffffff').light.accent).not.toBe('#000000');
  });

  it('has 4.5 : 1 on every ground and under the text of buttons, whatever the colour is', () => {
    const hex = integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, '0')}`);
    assert(
      property(hex, (colour) => {
        const { light, dark } = accentShades(colour);
        for (const ground of ['#ffffff', '#eaf0ef', light.soft, light.on])
          expect(contrast(light.accent, ground)).toBeGreaterThanOrEqual(4.5);
        for (const ground of ['#132023', '#0b1416', dark.soft, dark.on])
          expect(contrast(dark.accent, ground)).toBeGreaterThanOrEqual(4.5);
        for (const { deep, onDeepSoft, deepEdge } of [light, dark]) {
          expect(contrast(deep, '#f1f7f4')).toBeGreaterThanOrEqual(7);
          expect(contrast(deep, onDeepSoft)).toBeGreaterThanOrEqual(4.5);
          expect(contrast(deep, deepEdge)).toBeGreaterThanOrEqual(3);
        }
      }),
      { examples: [['#000000'], ['#ffffff'], ['#808080'], ['#ff0000'], ['#0000ff']] },
    );
  });

  it('the contrast is that of WCAG', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  });
});

test('pages, widgets and previews have the operator’s colour and logo', async () => {
  const web = await openWebApp({
    ACCENT_COLOUR: '#B00020',
    LOGO: file('logo.svg', SVG),
    PUBLIC_URL: 'http://localhost:3000/listing',
  });
  const { body } = await getPage(web, '/sign-in');
  const href = /<link rel="icon" type="image\/svg\+xml" href="([^"]+)"/.exec(body)?.[1] ?? '';
  expect(href).toMatch(/^\/listing\/assets\/logo\.[\w-]{12}\.svg$/);
  expect(body).toContain(`<img src="${href}" alt="" width="56" height="28" />`);
  const logo = await web.app.inject(href);
  expect(logo.body).toBe(SVG);
  expect(logo.headers).toMatchObject({
    'content-type': 'image/svg+xml',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'x-content-type-options': 'nosniff',
  });
  const styles = [...body.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, path = '']) => path);
  expect(styles.at(-1)).toBe('/listing/assets/accent/b00020.css');
  const colour = await web.app.inject(styles.at(-1) ?? '');
  expect(colour.body).toMatch(/:root\{--accent:light-dark\(#b00020,#\w{6}\)/);
  expect(colour.headers['content-type']).toBe('text/css; charset=utf-8');
  expect(body).toContain('<a class="brand" href="/listing/">');
});

test('on a phone, a wide logo stands without the name', async () => {
  const web = await openWebApp({ LOGO: file('wide.svg', SVG.replace('0 0 64 32', '0 0 90 30')) });
  expect((await getPage(web, '/sign-in')).body).toContain('<a class="brand wide-logo" href="/">');
});

test('each default tag has a picture of its own, and any other text has a drawing', async () => {
  const keys = (await readTags(await testDeps())).map(({ key }) => key);
  expect(keys.length).toBeGreaterThan(20);
  const pictures = keys.map((key) => String(pixelPicture(key, 48)));
  expect(new Set(pictures).size).toBe(keys.length);
  const inherited = Object.getOwnPropertyNames(Object.prototype);
  assert(
    property(oneof(string(), constantFrom(...inherited)), (text) => {
      const picture = String(pixelPicture(text, 48));
      expect(picture).toMatch(/^<svg class="pixels [^>]*><path d="M[^"]{20,}"/);
      expect(String(pixelPicture(text, 48))).toBe(picture);
    }),
  );
});

test('a banner that is a strip is shown whole', () => {
  const banner = (width: number, height: number) => ({ wide: 'a', narrow: 'b', width, height });
  const link = (width: number, height: number) =>
    String(bannerLink('', { name: 'Alpha', slug: 'alpha', banner: banner(width, height) }));
  expect(link(936, 120)).toContain('class="strip"');
  expect(link(1_200, 300)).not.toContain('strip');
});

test.each<[string, string, number]>([
  ['a view box', 'viewBox="0 0 64 32"', 56],
  ['width and height', 'width="100px" height="50"', 56],
  ['units', 'width="2cm" height="20mm"', 28],
  ['a width and a view box', 'width="90" viewBox="0,0,30,10"', 84],
  ['percentages and a view box', 'width="100%" height="100%" viewBox="0 0 10 10"', 28],
  ['no size', '', 28],
])('an SVG with %s has its ratio', async (_name, attributes, width) => {
  const path = file('sized.svg', SVG.replace('viewBox="0 0 64 32"', attributes));
  expect(await readLogo(path)).toMatchObject({ width, height: 28 });
});

test('an SVG with the parts that drawing programs write is accepted', async () => {
  const svg = `\ufeff<?xml version="1.0"?><!-- <a> --><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [<!ENTITY a "b">]>
    <svg:svg xmlns:svg="http://www.w3.org/2000/svg" viewBox='0 0 20 10'><svg:style><![CDATA[a > b {}]]></svg:style><svg:g id="a>b"/></svg:svg>`;
  expect(await readLogo(file('program.svg', svg))).toMatchObject({ extension: 'svg', width: 56 });
});

test.each(['png', 'webp'] as const)('a logo may be a %s picture', async (format) => {
  const bytes = await picture(300, 100)[format]().toBuffer();
  const logo = await readLogo(file(`logo.${format}`, bytes));
  expect(logo).toMatchObject({ extension: format, type: `image/${format}`, width: 84, height: 28 });
  expect(logo.bytes.equals(bytes)).toBe(true);
});

test.each<[string, () => string | Promise<string>, string]>([
  ['no file', () => join(folder, 'none.svg'), 'cannot be read'],
  ['a folder', () => folder, 'is not a file'],
  ['a large file', () => file('large.svg', `${SVG}${' '.repeat(256 * 1_024)}`), 'has more than 256 KB'],
  ['a text', () => file('text.svg', 'logo'), 'is no usable SVG, PNG or WebP picture'],
  ['HTML', () => file('page.svg', '<!doctype html><script>alert(1)</script>'), 'is no usable SVG'],
  ['a damaged SVG', () => file('broken.svg', SVG.slice(0, 60)), 'is no usable SVG'],
  ['an SVG that ends early', () => file('early.svg', SVG.slice(0, -6)), 'is no usable SVG'],
  ['an SVG with a wrong end', () => file('end.svg', SVG.replace('</svg>', '</svq>')), 'is no usable SVG'],
  ['two SVGs', () => file('two.svg', `${SVG}${SVG}`), 'more than one root element'],
  ['other XML', () => file('other.svg', '<svg xmlns="urn:other"/>'), 'its root element is not'],
  [
    'a huge SVG',
    () => file('huge.svg', SVG.replace('viewBox', 'width="9000" height="9000" viewBox')),
    'more than 2000 pixels',
  ],
  [
    'a huge picture',
    async () => file('huge.png', await picture(2_001, 8).png().toBuffer()),
    'more than 2000 pixels',
  ],
  ['a JPEG', async () => file('logo.jpg', await picture(8, 8).jpeg().toBuffer()), 'is a JPEG picture'],
  [
    'a damaged picture',
    async () => file('cut.png', (await picture(8, 8).png().toBuffer()).subarray(0, 60)),
    'is damaged',
  ],
])('%s as a logo is an error at the start', async (_name, path, message) => {
  const LOGO = await path();
  await expect(readLogo(LOGO)).rejects.toThrow(message);
  await expect(readLogo(LOGO)).rejects.toThrow(`LOGO (“${LOGO}”)`);
});

// Each of these took the time of the square of its length: 1.3 to 12 s.
test.each([
  '<!--',
  '<?',
  '<![CDATA[',
  '<!DOCTYPE',
  '<!DOCTYPE [',
  '<a',
])('a logo of %s is refused at once', (part) => {
  const bytes = Buffer.from(part.repeat((256 * 1_024) / part.length));
  const spent = cpuMs(() => expect(() => svgSize(bytes)).toThrow(SvgError));
  expect(spent).toBeLessThan(500);
});

test('our logo has the operator’s colour', async () => {
  const web = await openWebApp({ ACCENT_COLOUR: '#7a1fa2' });
  expect((await getPage(web, '/sign-in')).body).toContain('<img src="/assets/accent/7a1fa2.svg"');
  const { body, headers } = await getPage(web, '/assets/accent/7a1fa2.svg');
  expect(headers['content-type']).toContain('image/svg+xml');
  expect(body).toContain('fill="#7a1fa2"');
  expect((await getPage(web, '/assets/accent/nothing.svg')).statusCode).toBe(404);
});

test('a name of signs has an initial too', () => {
  expect(initials('★★★')).toBe('★');
  expect(initials('Der Kleine Hof')).toBe('DK');
});
