import { beforeAll, expect, test } from 'vitest';
import { getPage, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';

let web: WebApp;

beforeAll(async () => {
  web = await openWebApp();
});

test.each([
  ['/sign-up/', '/sign-up'],
  ['/sign-in/?next=%2Fdashboard%2F', '/sign-in?next=%2Fdashboard%2F'],
  ['/how-ranking-works/', '/how-ranking-works'],
  ['/account/two-factor/', '/account/two-factor'],
])('%s leads to %s', async (from, to) => {
  const answer = await getPage(web, from);
  expect([answer.statusCode, answer.headers.location]).toEqual([308, to]);
});

test('/servers redirects to the ranking', async () => {
  expect((await getPage(web, '/servers/')).headers.location).toBe('/');
});

test('/servers redirects under a base path too', async () => {
  const web = await openWebApp({ PUBLIC_URL: 'https://example.org/listing' });
  const answer = await getPage(web, '/sign-up/');
  expect(answer.headers.location).toBe('/listing/sign-up');
});

test('an address outside the path of PUBLIC_URL says that a proxy must keep the path', async () => {
  const { app } = await openWebApp({ PUBLIC_URL: 'https://example.org/listing' });
  for (const url of ['/', '/sign-in', '/api/v1/servers/x/info', '/listings']) {
    const { error, code } = (await app.inject({ url, headers: { accept: 'application/json' } })).json();
    expect([code, error]).toEqual([
      'not-found',
      expect.stringContaining('this listing is under /listing/. A proxy'),
    ]);
  }
  const inside = await app.inject({ url: '/listing/nothing', headers: { accept: 'application/json' } });
  expect(inside.json().error).toBe('There is nothing at this address.');
});

test.each([
  '//sign-up/',
  '//evil.example/sign-up/',
  '/sign-up//',
  '/nothing/',
  '/%2Fsign-up/',
  '/healthz/',
  '/openapi.json/',
  '/api/v1/servers/0123456789abcdef01234567/info/',
])('%s leads nowhere', async (url) => {
  const answer = await web.app.inject({ url, headers: { accept: 'text/html' } });
  expect([answer.statusCode, answer.headers.location]).toEqual([404, undefined]);
});

test('a form sent to an address with a trailing slash is not found', async () => {
  expect((await sendForm(web, '/sign-in/', {})).statusCode).toBe(404);
});
