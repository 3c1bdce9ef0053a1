import type { FastifyInstance } from 'fastify';
import { afterEach, beforeAll } from 'vitest';
import { hashPassword, type PasswordHasher, verifyPassword } from '../../src/accounts/password.ts';
import { buildApp } from '../../src/app.ts';
import { SECOND } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { watchReadiness } from '../../src/process/health.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { atTheEnd } from './at-the-end.ts';
import { emptyDatabase } from './databases.ts';
import { requireFilledPage } from './filled-texts.ts';
import { testDeps } from './test-deps.ts';

/** The web application in this process, and its dependencies. */
export type WebApp = { app: FastifyInstance; deps: AppDeps };

/** Hashes passwords with the lowest cost. A hash records its cost, so checking is cheap too. */
export const CHEAP_PASSWORDS: PasswordHasher = {
  hash: (password) => hashPassword(password, { N: 16, r: 1, p: 1 }),
  verify: verifyPassword,
};

/** Longer than what an application keeps in its caches for pages. */
const PAGES_KEPT_MS = 10 * SECOND;

// These caches measure with `performance.now()`.
const running = performance.now.bind(performance);
let aheadMs = 0;
performance.now = () => running() + aheadMs;

/**
 * Opens the web application on a database of its own. It is closed when the test or the file ends (see `atTheEnd`).
 *
 * @param changed - dependencies that the test replaces, such as the clock
 */
export async function openWebApp(
  env: Record<string, string> = {},
  changed: Partial<AppDeps> = {},
): Promise<WebApp> {
  return openWebAppOn({ ...(await testDeps(env)), passwords: CHEAP_PASSWORDS, ...changed });
}

/**
 * One web application for all tests of the file that call the returned function: building one takes longer than most
 * tests. After each test its database is emptied and its cached pages expire; what else it keeps in memory stays.
 */
export function webAppOfFile(env: Record<string, string> = {}, changed: Partial<AppDeps> = {}): () => WebApp {
  let web: WebApp;
  beforeAll(async () => {
    web = await openWebApp(env, changed);
  });
  afterEach(async () => {
    await emptyDatabase(web.deps.mongo);
    aheadMs += PAGES_KEPT_MS;
  });
  return () => web;
}

/** Opens the web application on dependencies that are already open. It is closed like that of `openWebApp`. */
export async function openWebAppOn(deps: AppDeps): Promise<WebApp> {
  const stopping = new AbortController();
  const app = await buildApp(deps, {
    metrics: createMetrics(deps),
    readiness: watchReadiness(deps, stopping.signal),
    stopping: stopping.signal,
  });
  atTheEnd(() => app.close());
  return { app, deps };
}

/** The headers that a browser sends with a form of our own pages. */
export const OWN_ORIGIN = { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' };

/** Sends a form as a browser does. */
export function sendForm(
  { app, deps }: WebApp,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) {
  return app.inject({
    method: 'POST',
    url: `${deps.config.basePath}${path}`,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'text/html',
      ...OWN_ORIGIN,
      ...headers,
    },
    payload: new URLSearchParams(fields).toString(),
  });
}

/** Requests a page as a browser does. @throws if one of its texts has an unfilled `{placeholder}` */
export async function getPage({ app, deps }: WebApp, path: string, headers: Record<string, string> = {}) {
  const answer = await app.inject({
    url: `${deps.config.basePath}${path}`,
    headers: { accept: 'text/html', ...headers },
  });
  if (String(answer.headers['content-type']).startsWith('text/html')) requireFilledPage(answer.body);
  return answer;
}

/** The text of a page, without tags. */
export function textOf(page: string): string {
  return page
    .replace(/<script[^>]*>.*?<\/script>/gs, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('&#39;', '’');
}
