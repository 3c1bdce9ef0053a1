import { expect, test } from 'vitest';
import { signIn } from '../support/sign-in.ts';
import { OWN_ORIGIN, webAppOfFile } from '../support/web-app.ts';

const shared = webAppOfFile();

test.each([
  '/operator/queues/api/queues/forward-votes/pause',
  '/operator/queues/%61pi/queues/forward-votes/pause',
  '/%6fperator/queues/api/queues/%66orward-votes/pause',
  '/operator/%71ueues/a%70i/queues/forward-votes/paus%65?x=1',
])('a button of the queues stands in the audit log however its address is spelt: %s', async (url) => {
  const web = shared();
  const headers = (await signIn(web, { role: 'operator' })).headers;
  const answer = await web.app.inject({ method: 'PUT', url, headers: { ...headers, ...OWN_ORIGIN } });
  expect(answer.statusCode, answer.body).toBe(200);
  expect(await web.deps.auditLog.find({ action: 'queue.button' }).toArray()).toMatchObject([
    { details: { button: 'pause', queueName: 'forward-votes' } },
  ]);
});
