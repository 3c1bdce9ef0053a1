import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ObjectId } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/platform/config.ts';
import { ConfigError } from '../../src/platform/environment.ts';
import { readSitePages, renderTrustedMarkdown } from '../../src/site/site-pages.ts';
import { STORED_DATA } from '../../src/site/stored-data.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, type WebApp, webAppOfFile } from '../support/web-app.ts';

function folderWith(files: Record<string, string | Buffer>): string {
  const folder = mkdtempSync(join(tmpdir(), 'site-pages-'));
  atTheEnd(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

const shared = webAppOfFile();

/** Changes settings of the shared application for the test. */
function set(changes: Partial<Config>): WebApp {
  const web = shared();
  const { config } = web.deps;
  const before = Object.keys(changes).map((name) => [name, config[name as keyof Config]]);
  Object.assign(config, changes);
  onTestFinished(() => void Object.assign(config, Object.fromEntries(before)));
  return web;
}

test('the operator’s pages are served and linked, the others are not found', async () => {
  const folder = folderWith({
    'imprint.md': '# About *us*\n\nExample & Co.',
    'terms.md': '﻿Be kind.',
    'notes.md': 'not a page',
  });
  const web = await openWebApp({
    SITE_PAGES_DIR: folder,
    CONTACT: 'help@example.org',
    FOOTER_LINKS: 'Our forum https://forum.example.org/?a=1&b=2',
    PUBLIC_URL: 'http://localhost:3000/listing',
  });
  const imprint = await getPage(web, '/imprint');
  expect(imprint.statusCode).toBe(200);
  expect(imprint.body).toContain('<title>About us · ');
  expect(imprint.body).toContain('<h1>About <em>us</em></h1>\n<p>Example &amp; Co.</p>');
  expect((await getPage(web, '/terms')).body).toContain('<h1>Terms</h1>\n<p>Be kind.</p>');
  for (const path of ['/contact', '/notes']) expect((await getPage(web, path)).statusCode).toBe(404);
  const footer = /<footer.*<\/footer>/s.exec((await getPage(web, '/sign-in')).body)?.[0];
  expect(footer).toContain('<a href="mailto:help@example.org">Contact</a>');
  expect(footer).toContain(
    '<a href="/listing/imprint">Imprint</a><a href="/listing/privacy">Privacy</a><a href="/listing/terms">Terms</a>',
  );
  expect(footer).toContain('<a href="https://forum.example.org/?a=1&amp;b=2" dir="auto">Our forum</a>');
});

test('a page for contact takes the place of the address in the footer, and one about privacy that of ours', async () => {
  const web = await openWebApp({
    SITE_PAGES_DIR: folderWith({ 'contact.md': 'Write.', 'privacy.md': 'We store nothing.' }),
    CONTACT: 'a@b.example',
  });
  expect((await getPage(web, '/contact')).body).toContain('<a href="/contact">Contact</a>');
  expect((await getPage(web, '/forgot-password')).body).toContain('<a href="/contact">a@b.example</a>');
  const written = (await getPage(web, '/privacy')).body;
  expect(written).toContain('<p>We store nothing.</p>');
  expect(written).not.toContain('id="stored"');
});

test('without these settings there are no pages but that about privacy, and no contact', async () => {
  const web = shared();
  const { body } = await getPage(web, '/forgot-password');
  expect(body).not.toContain('Contact');
  expect((await getPage(web, '/imprint')).statusCode).toBe(404);
});

test.each([
  ['<script>alert(1)</script>', '<script'],
  ['<img src=x onerror=alert(1)>', '<img'],
  ['[a](javascript:alert(1))', 'href='],
  ['[a](vbscript:x)', 'href='],
  ['[a](data:text/html,x)', 'href='],
  ['[a](/x "&quot; onclick=&quot;x")', '" onclick="'],
  ['|a|\n|:-:|\n|b|', 'style='],
])('%s does not become active', (text, active) => {
  expect(renderTrustedMarkdown(text)).not.toContain(active);
});

test.each<[string, () => string, string]>([
  ['no folder', () => join(folderWith({}), 'none'), 'cannot be read'],
  [
    'a folder without pages',
    () => folderWith({ 'imprnt.md': 'x' }),
    'has none of the files contact.md, imprint.md',
  ],
  ['an empty page', () => folderWith({ 'terms.md': ' \n' }), 'terms.md is empty'],
  ['a large page', () => folderWith({ 'terms.md': 'x'.repeat(65_537) }), 'terms.md has more than 64 KB'],
  [
    'another encoding',
    () => folderWith({ 'terms.md': Buffer.from([0xe4]) }),
    'terms.md is not a text in UTF-8',
  ],
  [
    'a folder as a page',
    () => {
      const folder = folderWith({});
      mkdirSync(join(folder, 'terms.md'));
      return folder;
    },
    'terms.md is not a file',
  ],
])('%s is an error at the start', (_name, folder, message) => {
  expect(() => readSitePages(folder())).toThrow(ConfigError);
  expect(() => readSitePages(folder())).toThrow(message);
});

test('the privacy page says what is stored with the present settings', async () => {
  const web = set({ KEEP_PLAYER_NAMES_MONTHS: 18, KEEP_ADDRESSES_MONTHS: 0, CONTACT: 'a@b.example' });
  const { body, statusCode } = await getPage(web, '/privacy');
  expect(statusCode).toBe(200);
  expect(body).toContain('The player name for 18 months');
  expect(body).toContain('E-mail addresses in it as long');
  expect(body).toContain('<a href="mailto:a@b.example">');
  expect(body).not.toMatch(/learns that you do|mail server/);
  for (const stored of Object.values(STORED_DATA)) if (stored) expect(body).toContain(stored.title);
  const plain = await getPage(
    await openWebApp({
      SMTP_URL: 'smtp://127.0.0.1:25',
      MAIL_FROM: 'a@b.example',
      DISCORD_CLIENT_ID: '1',
      DISCORD_CLIENT_SECRET: 'x',
      OIDC_ISSUER: 'https://login.example.org',
      OIDC_CLIENT_ID: '1',
      OIDC_CLIENT_SECRET: 'x',
    }),
    '/privacy',
  );
  expect(plain.body).toContain('without a limit; the operator removes it if you ask');
  expect(plain.body).toContain('at most 24 months after that time');
  expect(plain.body).toMatch(/Discord learns/);
  expect(plain.body).toMatch(/login\.example\.org learns/);
});

test('an address that is listed already names the contact', async () => {
  const web = set({ CONTACT: 'help@example.org' });
  await addOwnedServer(web.deps, new ObjectId(), { address: 'play.example.org', port: 25_565 });
  const { headers } = await signIn(web);
  const fields = {
    name: 'Mine',
    address: 'play.example.org',
    port: '25565',
    game: '',
    queryPort: '',
    countryCode: '',
  };
  const { statusCode, body } = await sendForm(web, '/dashboard/servers/new', fields, headers);
  expect(statusCode).toBe(400);
  expect(body).toContain('ask the operator of this listing. Contact: help@example.org');
});
