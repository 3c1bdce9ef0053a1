import { beforeAll, expect, test } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { PageError } from '../../src/site/error-pages.ts';
import { ANYONE } from '../../src/site/route-options.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import { getPage, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;
/** What the route `/throws` throws. */
let thrown: Error;

beforeAll(async () => {
  const deps = await testDeps();
  const app = await buildApp(deps, {
    metrics: createMetrics(deps),
    readiness: async () => ({ ready: true }) as never,
    stopping: new AbortController().signal,
  });
  atTheEnd(() => app.close());
  app.get('/throws', ANYONE, async () => {
    throw thrown;
  });
  web = { app, deps };
});

test('a missing page offers the search and the ranking', async () => {
  const { statusCode, body } = await getPage(web, '/nothing/here');
  expect(statusCode).toBe(404);
  expect(body).toContain('action="/"');
  expect(body).toContain('name="q"');
  expect(body).toContain('Go to the ranking');
});

test('a missing page keeps the head of a signed-in user', async () => {
  const user = await signIn(web);
  const head = ({ body }: { body: string }) => /<header.*?<\/header>/s.exec(body)?.[0] ?? '';
  const missing = await getPage(web, '/nothing/here', user.headers);
  expect(missing.statusCode).toBe(404);
  expect(head(missing)).toContain('href="/account"');
  expect(head(missing)).not.toContain('href="/sign-in');
  expect(head(await getPage(web, '/nothing/here'))).toContain('href="/sign-in');
  const forged = { cookie: 'tallyport.session_token=forged' };
  expect(head(await getPage(web, '/nothing/here', forged))).toContain('href="/sign-in');
});

test('a rate limit shows when to try again, on the page and in Retry-After', async () => {
  thrown = new PageError(429, 'Too many links were requested.', after(new Date(), 3 * MINUTE));
  const { statusCode, headers, body } = await getPage(web, '/throws');
  expect(statusCode).toBe(429);
  expect(Number(headers['retry-after'])).toBeGreaterThan(170);
  expect(body).toMatch(/You can try again <strong>in 3 minutes<\/strong>, at <time/);
  expect(body).toContain('Try again</a>');
  const text = textOf(body);
  expect(text).not.toContain('Repeat your request then');
  expect(text.indexOf('You can try again')).toBeLessThan(text.indexOf('No data was lost.'));
  expect(text.indexOf('You can try again')).toBeGreaterThan(0);
});

test('an internal error shows only a number for the operator', async () => {
  thrown = new Error('the secret inside');
  const { statusCode, headers, body } = await getPage(web, '/throws');
  expect(statusCode).toBe(500);
  expect(body).not.toContain('secret inside');
  expect(body).toContain(String(headers['x-request-id']));
  expect(headers['cache-control']).toBe('no-store');
});

test('when the database does not answer, the page says that votes are safe', async () => {
  thrown = Object.assign(new Error('gone'), { name: 'MongoServerSelectionError' });
  const { statusCode, headers, body } = await getPage(web, '/throws');
  expect(statusCode).toBe(503);
  expect(headers['retry-after']).toBe('5');
  expect(body).toContain('Accepted votes are safe');
  expect(body).toContain('in 5 seconds');
});
