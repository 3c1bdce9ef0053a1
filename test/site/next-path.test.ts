import { expect, test } from 'vitest';
import { nextPath } from '../../src/site/shared/next-path.ts';

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
