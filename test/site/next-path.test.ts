import { expect, test } from 'vitest';
import { nextPage, nextPath } from '../../src/site/shared/next-path.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { sendForm, webAppOfFile } from '../support/web-app.ts';

const web = webAppOfFile();
const HOME = '/dashboard';

test.each([
  ['/operator/queues', '/operator/queues'],
  [
    '/operator/queues/queue/forward-votes?status=delayed',
    '/operator/queues/queue/forward-votes?status=delayed',
  ],
  ['/dashboard', '/dashboard'],
])('%s is followed', (next, path) => {
  expect(nextPath(next, '', HOME)).toBe(path);
});

test.each([
  'https://elsewhere.example/operator',
  '//elsewhere.example/operator',
  '/\\elsewhere.example/operator',
  '\\\\elsewhere.example/operator',
  '/\t/elsewhere.example/operator',
  '/.//elsewhere.example/operator',
  'javascript:alert(1)',
  'http://nowhere.invalid:1/operator',
  '',
  undefined,
  ['/operator/queues'],
])('%j leads home', (next) => {
  expect(nextPath(next, '', HOME)).toBe(HOME);
});

test.each([
  '/operator/queues',
  '/listing/../operator',
  '/listingoperator',
])('under a base path %s is outside', (next) => {
  expect(nextPath(next, '/listing', '/listing/dashboard')).toBe('/listing/dashboard');
});

test('with a base path, only paths below it are followed', () => {
  expect(nextPath('/listing/operator/queues', '/listing', '/listing/dashboard')).toBe(
    '/listing/operator/queues',
  );
});

test.each(['/sign-out', '/account/name?done=x'])('%s is the address of a form and leads home', (next) => {
  expect(nextPath(next, '', HOME)).toBe(next);
  expect(nextPage(web().app, next, HOME)).toBe(HOME);
});

test.each([
  '/servers/alpha?players=30d',
  '/favourites/0123456789abcdef01234567',
  '/sign-in',
  '/',
])('%s is a page and is followed', (next) => {
  expect(nextPage(web().app, next, HOME)).toBe(next);
});

test('a sign-in that would lead to the address of a form leads to the user’s own start page', async () => {
  const { email } = await signIn(web());
  const to = async (next: string) =>
    (await sendForm(web(), '/sign-in', { email, password: PASSWORD, next })).headers.location;
  expect(await to('/account')).toBe('/account');
  expect(await to('/sign-out')).toBe(await to(''));
});
