import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { compressLazily } from '../../src/http/compressed.ts';
import { openWebApp } from '../support/web-app.ts';

test('content for several clients is compressed once for each encoding', async () => {
  const plain = Buffer.from('vote '.repeat(1_000));
  const content = compressLazily(plain);
  const [br, again] = await Promise.all([content('br'), content('br')]);
  expect(again).toBe(br);
  expect(await content('br')).toBe(br);
  expect(brotliDecompressSync(br).equals(plain)).toBe(true);
  expect(gunzipSync(await content('gzip')).equals(plain)).toBe(true);
  expect(await content('identity')).toBe(plain);
});

test('a cached page is sent in each encoding, with one ETag; small content as it is', async () => {
  const { app } = await openWebApp();
  const get = (url: string, encoding: string) =>
    app.inject({ url, headers: { 'accept-encoding': encoding } });
  const [br, zipped, plain, again] = [
    await get('/', 'gzip, br'),
    await get('/', 'gzip'),
    await get('/', 'identity'),
    await get('/', 'br'),
  ];
  expect([br, zipped, plain].map(({ headers }) => headers['content-encoding'])).toEqual([
    'br',
    'gzip',
    undefined,
  ]);
  expect(brotliDecompressSync(br.rawPayload).toString()).toBe(plain.body);
  expect(gunzipSync(zipped.rawPayload).toString()).toBe(plain.body);
  expect(again.rawPayload.equals(br.rawPayload)).toBe(true);
  expect(new Set([br, zipped, plain].map(({ headers }) => headers.etag)).size).toBe(1);
  expect(br.headers.vary).toBe('accept-language, cookie, accept-encoding');
  const known = { 'accept-encoding': 'br', 'if-none-match': String(br.headers.etag) };
  const unchanged = await app.inject({ url: '/', headers: known });
  expect([unchanged.statusCode, unchanged.rawPayload.length]).toEqual([304, 0]);
  expect((await get('/robots.txt', 'br')).headers['content-encoding']).toBeUndefined();
});
