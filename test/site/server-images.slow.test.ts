import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ServerInfo } from '../../src/history/server-info.ts';
import { HOUR } from '../../src/platform/clock.ts';
import type { DrawnPictures } from '../../src/platform/pictures/picture-tasks.ts';
import { drawBanner } from '../../src/site/public/banner-drawing.ts';
import { drawBadge } from '../../src/site/public/server-images.ts';
import { shareDrawing } from '../../src/site/public/share-image.ts';
import { fitted, imageText, textWidth } from '../../src/site/public/svg-text.ts';
import { anyText } from '../support/any-text.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { anyInfo } from '../support/server-info.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, openWebApp } from '../support/web-app.ts';

const INFO = anyInfo({ name: 'Harbour Lights', onlinePlayers: 1_204, maxPlayers: 2_000, rankPosition: 3 });

const text = (image: unknown) => String(image).replace(/<[^>]+>/g, ' ');

it('the banner shows name, address, players and rank; the badge shows name and players', () => {
  for (const shown of [
    'Harbour Lights',
    'play.example.org:25565',
    '1,204 of 2,000 players',
    'Rank 3',
    'Vote on Tallyport',
  ])
    expect(text(drawBanner(INFO, 'Tallyport'))).toContain(shown);
  expect(text(drawBadge(INFO))).toContain('1,204 of 2,000 players');
  expect(text(drawBadge({ ...INFO, maxPlayers: 0, onlinePlayers: 1 }))).toContain('1 player');
  expect(text(drawBadge(INFO))).not.toContain('reported');
  expect(text(drawBadge({ ...INFO, status: 'offline' }))).toContain('offline');
  expect(text(drawBadge({ ...INFO, status: 'unknown' }))).toContain('status unknown');
});

it('banner and badge mark reported players', () => {
  const info: ServerInfo = { ...INFO, playersSource: 'reports' };
  for (const image of [drawBanner(info, 'Tallyport'), drawBadge(info)]) {
    expect(text(image)).toContain('1,204 of 2,000 players (self-reported)');
    expect(String(image)).toMatch(/aria-label="Harbour Lights: 1,204 of 2,000 players \(self-reported\)/);
  }
  expect(text(drawBadge({ ...info, maxPlayers: 0 }))).toContain('1,204 players (self-reported)');
});

it('a long name is cut between characters; a short one is not cut', () => {
  expect(fitted('Short', 20, 300)).toBe('Short');
  const long = '👨‍👩‍👧‍👦'.repeat(40);
  const cut = fitted(long, 20, 300);
  expect(cut).toMatch(/^(👨‍👩‍👧‍👦)+…$/u);
  expect(textWidth(cut, 20)).toBeLessThanOrEqual(310);
});

it('many combining marks do not cover the image', () => {
  expect([...imageText(`a${'\u0301'.repeat(500)}b`)]).toHaveLength(13);
});

/** Server names with unusual characters. */
const hostile = fc
  .array(
    fc.oneof(
      anyText({ maxLength: 20 }),
      fc.constantFrom(
        '<script>',
        '&',
        ']]>',
        '"',
        "'",
        '\u0000',
        '\ufffe',
        '\ud800',
        '\u202e',
        '<!--',
        '\u001b[2J',
      ),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''));

/** What our images may consist of: tags with quoted attributes, and text of allowed characters and escapes. */
const TEXT = String.raw`(?:[^<>&"\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|&(?:amp|lt|gt|quot|#39);|')*`;
const TAG = String.raw`<\/?[a-zA-Z]+(?:\s+[a-zA-Z:-]+="${TEXT}")*\/?>`;

it('images are well-formed for any server name', () => {
  fc.assert(
    fc.property(hostile, hostile, (name, site) => {
      for (const image of [
        drawBanner({ ...INFO, name, address: name }, site),
        drawBadge({ ...INFO, name }),
      ]) {
        const written = String(image);
        expect(written.isWellFormed()).toBe(true);
        expect(isWellFormed(written)).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

/** Whether an image consists only of these parts. */
function isWellFormed(written: string): boolean {
  const [head = '', ...pieces] = written.split(/(?=<)/);
  const piece = new RegExp(`^${TAG}${TEXT}$`, 'u');
  return head.trim() === '<?xml version="1.0" encoding="UTF-8"?>' && pieces.every((one) => piece.test(one));
}

it('any site may embed images, they are cached for a short time, and opened alone they are sandboxed', async () => {
  const web = await openWebApp();
  const owner = await signIn(web);
  await addOwnedServer(web.deps, owner.userId, { name: 'Embedded' });
  for (const file of ['banner.svg', 'badge.svg']) {
    const { statusCode, headers, body } = await getPage(web, `/servers/embedded/${file}`, {
      accept: 'image/svg+xml,image/*',
    });
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'image/svg+xml; charset=utf-8',
      'cache-control': expect.stringMatching(/^public, max-age=\d+, stale-while-revalidate=\d+$/),
      'cross-origin-resource-policy': 'cross-origin',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      etag: expect.any(String),
    });
    expect(isWellFormed(body)).toBe(true);
    const again = await getPage(web, `/servers/embedded/${file}`, { 'if-none-match': String(headers.etag) });
    expect(again.statusCode).toBe(304);
  }
});

it('an answer that carries a renewed session is not cached by proxies', async () => {
  const web = await openWebApp();
  const owner = await signIn(web);
  await addOwnedServer(web.deps, owner.userId, { name: 'Renewed' });
  const soon = new Date(Date.now() + HOUR);
  await web.deps.sessions.updateOne({ userId: owner.userId }, { $set: { expiresAt: soon } });
  const renewed = await getPage(web, '/servers/renewed/badge.svg', owner.headers);
  expect(renewed.cookies.length).toBeGreaterThan(0);
  expect(renewed.headers['cache-control']).toBe('no-store');
  expect((await getPage(web, '/servers/renewed/badge.svg')).headers['cache-control']).toMatch(/^public/);
});

const cardOf = (info: Partial<ServerInfo>, pictures?: DrawnPictures) =>
  shareDrawing({ info: { ...INFO, ...info }, site: 'Tallyport', ...(pictures ? { pictures } : {}) });

it('a drawing for previews of links shows the name, or the address if the fonts lack its characters', () => {
  expect(cardOf({})).toContain('>Harbour Lights<');
  // The fonts have neither Hangul nor pictographs, so the address is drawn, once.
  expect(cardOf({ name: '서버' }).match(/play\.example\.org:25565</g)).toHaveLength(1);
  expect(cardOf({ name: '⚔ Swords ⚔' })).toContain('>Swords<');
  for (const name of [
    '<b>&amp;"\u0000',
    '👨‍👩‍👧‍👦',
    'W'.repeat(100),
    'سيرفر',
    '\u202eevil',
    'href="picture:icon"',
  ])
    expect(isWellFormed(cardOf({ name }))).toBe(true);
});

it('a drawing is in the display face if it has all characters of the name, else in DejaVu', () => {
  const faceOf = (name: string) =>
    new RegExp(`font-family="([^"]+)"[^>]*>${name}<`).exec(cardOf({ name }))?.[1];
  expect(faceOf('Grüne Höfe')).toMatch(/^Bricolage/);
  for (const name of ['Łódź', 'Тихая', 'سيرفر']) expect(faceOf(name)).toBe('DejaVu Sans');
});

it('a drawing shows players or status, rank and votes', () => {
  const words = (info: Partial<ServerInfo>) => text(cardOf(info)).replace(/\s+/g, ' ');
  expect(words({ rankPosition: 12, votesCount: 1 })).toContain(
    '1,204 of 2,000 players 12 rank 1 vote in 30 days',
  );
  expect(words({ playersSource: 'reports' })).toContain('1,204 of 2,000 players (self-reported)');
  expect(words({ maxPlayers: 0, onlinePlayers: 1 })).toContain('1 player ');
  expect(words({ playersHidden: true })).toContain('Online players hidden');
  expect(words({ status: 'offline' })).toContain('Offline status');
  expect(words({ status: 'unknown' })).toContain('Unknown status');
});

it('a drawing names the server’s own pictures; without them it has the generated ones', () => {
  const made = { bytes: Buffer.alloc(1), width: 1, height: 1 };
  const own = cardOf({}, { banner: made, icon: made });
  expect(own.match(/href="picture:\w+"/g)).toEqual(['href="picture:banner"', 'href="picture:icon"']);
  expect(own).not.toContain('>HL<');
  expect(cardOf({})).not.toContain('picture:');
  expect(cardOf({})).toContain('>HL<');
  // A name cannot insert a picture.
  expect(cardOf({ name: 'a href="picture:icon" b' })).not.toContain('href="picture:');
});

it('any site may frame the widget, which runs nothing; and no site another page', async () => {
  const web = await openWebApp();
  await addOwnedServer(web.deps, (await signIn(web)).userId, { name: 'A <i>Widget' });
  const { slug } = (await web.deps.servers.findOne({})) ?? {};
  const widget = await getPage(web, `/servers/${slug}/widget`);
  expect(widget.statusCode).toBe(200);
  expect(widget.headers).not.toHaveProperty('x-frame-options');
  expect(widget.headers['content-security-policy']).toContain('frame-ancestors *');
  expect(widget.headers['content-security-policy']).not.toContain('script');
  expect(widget.body).toContain('A &lt;i&gt;Widget');
  expect(widget.body).toContain(`/servers/${slug}/vote"`);
  const page = await getPage(web, `/servers/${slug}`);
  expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(page.body).toContain(`/servers/${slug}/card.png`);
  const card = await getPage(web, `/servers/${slug}/card.png`);
  expect([card.statusCode, card.headers['content-type']]).toEqual([200, 'image/png']);
  expect((await getPage(web, '/servers/nobody/card.png')).statusCode).toBe(404);
});
