import { brotliDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openWebApp } from '../support/web-app.ts';

test('the script goes out compressed unless a client refuses that, under its version for a year, and a network gets it 20 times a minute', async () => {
  const web = await openWebApp();
  const get = (remoteAddress: string, path = '/docs/js/scalar.js', headers: Record<string, string> = {}) =>
    web.app.inject({ url: path, headers, remoteAddress });
  const script = await get('192.0.2.1', '/docs/js/scalar.js', { 'accept-encoding': 'identity' });
  expect(script.headers['content-type']).toBe('application/javascript; charset=utf-8');
  expect(script.headers['cache-control']).toBe('max-age=3600');
  const { body } = await web.app.inject('/docs/');
  const [, source] = /<script src="(js\/scalar\.js\?v=[\w-]{12})">/.exec(body) ?? [];
  const current = await get('192.0.2.1', `/docs/${source}`, { 'accept-encoding': 'gzip, br' });
  expect(current.headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-encoding': 'br',
    vary: expect.stringContaining('accept-encoding'),
  });
  expect(current.rawPayload.length).toBeLessThan(script.rawPayload.length / 3);
  expect(brotliDecompressSync(current.rawPayload).equals(script.rawPayload)).toBe(true);

  await web.deps.rateLimits.updateMany({ _id: /^reference-script:/ }, { $set: { count: 19 } });
  const last = await get('192.0.2.1');
  expect([last.statusCode, last.headers['content-encoding']]).toEqual([200, 'gzip']);
  const refused = await get('192.0.2.1');
  expect(refused.statusCode).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await get('192.0.2.2')).statusCode).toBe(200);
});
