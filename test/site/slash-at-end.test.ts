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
