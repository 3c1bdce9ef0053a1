import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { ERROR_CODES } from '../../src/http/error-codes.ts';
import { DOC_PAGES } from '../../src/site/docs-frame.ts';
import { openWebApp, type WebApp } from '../support/web-app.ts';

let web: WebApp;
/** An application under a path. */
let underPath: WebApp;

beforeAll(async () => {
  web = await openWebApp();
  underPath = await openWebApp({ PUBLIC_URL: 'https://listing.example/games/' });
});

test.each([
  '',
  '/games',
])('under “%s” the reference stands at /docs, with its script and icon', async (base) => {
  const { app } = base ? underPath : web;
  const answer = await app.inject(`${base}/docs`);
  expect(answer.headers.location).toBe(`${base}/docs/`);
  const page = await app.inject(`${base}/docs/`);
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain('<html lang="en">');
  expect(page.body).toMatch(/<script src="js\/scalar\.js\?v=[\w-]{12}">/);
  expect(app.hasRoute({ method: 'GET', url: `${base}/docs/js/scalar.js` })).toBe(true);
  expect(page.body).toContain(`<a href="${base}/"><span aria-hidden="true">←</span>`);
  expect(page.body).toContain(`"url": "${base}/openapi.json"`);
  expect((await app.inject(`${base}/openapi.json`)).json().openapi).toBe('3.1.0');
  expect((await app.inject(app.site.logo.href)).statusCode).toBe(200);
});

test('the page refers to no other host and allows none', async () => {
  const { app } = web;
  const { body, headers } = await app.inject('/docs/');
  expect(body.match(/https?:\/\/[^"\s]+/g) ?? []).toEqual([]);
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("connect-src 'self'");
  expect(policy).not.toMatch(/https?:/);
});

test('only the scripts in the page are allowed', async () => {
  const { app } = web;
  const { body, headers } = await app.inject('/docs/');
  const inline = [...body.matchAll(/<script(?: type="text\/javascript")?>([\s\S]*?)<\/script>/g)];
  const hashes = inline.map(([, script = '']) => createHash('sha256').update(script).digest('base64'));
  expect(hashes).toHaveLength(2);
  const allowed = hashes.map((hash) => `'sha256-${hash}'`).join(' ');
  expect(headers['content-security-policy']).toContain(`script-src 'self' ${allowed};`);
});

test('Scalar’s remote services are off', async () => {
  const { app } = web;
  const script = /createApiReference\('#app', (\{[\s\S]*?\n {6}\})\)/.exec((await app.inject('/docs/')).body);
  expect(JSON.parse(script?.[1] ?? '{}')).toMatchObject({
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    agent: { disabled: true },
    mcp: { disabled: true },
  });
});

test('an invalid Host header changes nothing', async () => {
  const { app } = web;
  const answer = await app.inject({ url: '/docs/', headers: { host: 'a b' } });
  expect(answer.statusCode).toBe(200);
  expect(answer.body).toBe((await app.inject('/docs/')).body);
});

test.each([
  '/docs/',
  '/openapi.json',
])('%s is compressed as the client accepts it, and cached', async (path) => {
  const { app } = web;
  const get = (encodings: string, more: Record<string, string> = {}) =>
    app.inject({ url: path, headers: { 'accept-encoding': encodings, ...more } });
  const plain = await get('identity');
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.headers['cache-control']).toBe('public, max-age=300');
  const [br, gzip, refused] = [await get('br, gzip'), await get('br;q=0, gzip'), await get('br;q=0')];
  expect(brotliDecompressSync(br.rawPayload).equals(plain.rawPayload)).toBe(true);
  expect(gunzipSync(gzip.rawPayload).equals(plain.rawPayload)).toBe(true);
  expect(refused.headers['content-encoding']).toBeUndefined();
  const { etag } = plain.headers;
  if (!etag) return;
  for (const known of [String(etag), `"other", ${String(etag)}`, String(etag).replace('W/', '')]) {
    const again = await get('br', { 'if-none-match': known });
    expect([again.statusCode, again.rawPayload.length, again.headers['content-encoding']]).toEqual([
      304,
      0,
      undefined,
    ]);
  }
});

test('the reference describes HTTP listeners and claims, and links to the page where tokens are made', async () => {
  const { description } = (await web.app.inject('/openapi.json')).json().info;
  for (const part of ['vote.cast', 'listener.challenge', 'webhook-signature', 'votes/claim', '/dashboard)']) {
    expect(description).toContain(part);
  }
});

test('every error code has a row at /docs/errors, to which `doc_url` leads', async () => {
  const { app } = underPath;
  const refused = (await app.inject('/games/api/v1/nothing')).json();
  expect(refused).toMatchObject({ doc_url: 'https://listing.example/games/docs/errors#not-found' });
  const page = await app.inject('/games/docs/errors');
  expect(page.statusCode).toBe(200);
  expect([...page.body.matchAll(/<tr id="([\w-]+)">/g)].map(([, code]) => code)).toEqual(
    Object.keys(ERROR_CODES),
  );
  expect(page.headers['content-security-policy']).toContain("style-src 'self'");
});

test('errors, fetching, relay and claims are pages with one side bar, whose links lead to pages and parts', async () => {
  const { app } = underPath;
  for (const { name, title } of DOC_PAGES.filter((page) => page.name !== '')) {
    const { body, statusCode } = await app.inject(`/games/docs/${name}`);
    expect(statusCode).toBe(200);
    expect(body).toContain(`<a href="/games/docs/${name}" aria-current="page">${title}</a>`);
    expect(body).not.toMatch(/<!--|listing\.example\/(?!games)|href="[^"]*\.md/);
    const ids = [...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    for (const [, id] of body.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(id);
  }
  const reference = (await app.inject('/games/docs/')).body;
  for (const { name } of DOC_PAGES) expect(reference).toContain(`<a href="/games/docs/${name}"`);
});

test('without a script, and if Scalar’s cannot be loaded, a sentence links to the OpenAPI document', async () => {
  const { body } = await underPath.app.inject('/games/docs/');
  const link = '<a href="/games/openapi.json">the OpenAPI document</a>';
  expect(/<noscript>([\s\S]*?)<\/noscript>/.exec(body)?.[1]).toContain(link);
  expect(/<p id="docs-failed" hidden>([\s\S]*?)<\/p>/.exec(body)?.[1]).toContain(link);
  // Scalar's element stays empty: it takes what is in it for its own.
  expect(body).toContain('<div id="app"></div>');
});

test('after a failure the next request makes the reference again', async () => {
  let isBroken = true;
  vi.doMock('@scalar/fastify-api-reference', async (importOriginal) => {
    const original = await importOriginal<typeof import('@scalar/fastify-api-reference')>();
    const broken = async () => Promise.reject(new Error('a file cannot be read'));
    return {
      get default() {
        return isBroken ? broken : original.default;
      },
    };
  });
  onTestFinished(() => void vi.doUnmock('@scalar/fastify-api-reference'));
  const { app } = await openWebApp();
  expect((await app.inject('/docs/')).statusCode).toBe(500);
  isBroken = false;
  expect((await app.inject('/docs/')).statusCode).toBe(200);
});
