import { expect, test } from 'vitest';
import { nextPath } from '../../src/site/operator/next-path.ts';

test.each([
  ['/operator/queues', '/operator/queues'],
  [
    '/operator/queues/queue/forward-votes?status=delayed',
    '/operator/queues/queue/forward-votes?status=delayed',
  ],
  ['/operator', '/operator'],
])('%s is followed', (next, path) => {
  expect(nextPath(next, '/operator')).toBe(path);
});

test.each([
  'https://elsewhere.example/operator',
  '//elsewhere.example/operator',
  '/\\elsewhere.example/operator',
  '\\\\elsewhere.example/operator',
  '/\t/elsewhere.example/operator',
  'javascript:alert(1)',
  '/operator/../elsewhere',
  '/operatorelsewhere',
  '/api/v1/servers',
  'http://nowhere.invalid:1/operator',
  '',
  undefined,
  ['/operator/queues'],
])('%j leads to the desk', (next) => {
  expect(nextPath(next, '/operator')).toBe('/operator');
});

test('under a base path the desk stands under it', () => {
  expect(nextPath('/listing/operator/queues', '/listing/operator')).toBe('/listing/operator/queues');
  expect(nextPath('/operator/queues', '/listing/operator')).toBe('/listing/operator');
});
