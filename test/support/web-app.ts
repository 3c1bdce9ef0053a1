import type { FastifyInstance } from 'fastify';
import { hashPassword, type PasswordHashing, verifyPassword } from '../../src/accounts/password.ts';
import { buildApp } from '../../src/app.ts';
import { watchReadiness } from '../../src/process/health.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import type { Platform } from '../../src/process/platform.ts';
import { atTheEnd } from './at-the-end.ts';
import { testPlatform } from './test-platform.ts';

/** The web application in this process, and what it works on. */
export type WebApp = { app: FastifyInstance; platform: Platform };

/** Hashes that cost nothing to make; as every hash names its own cost, checking one costs nothing either. */
export const CHEAP_PASSWORDS: PasswordHashing = {
  hash: (password) => hashPassword(password, { N: 16, r: 1, p: 1 }),
  verify: verifyPassword,
};

/** The web application on a database of its own; closed when the test ends, or the file (see `atTheEnd`). */
export async function openWebApp(env: Record<string, string> = {}): Promise<WebApp> {
  return openWebAppOn({ ...(await testPlatform(env)), passwords: CHEAP_PASSWORDS });
}

/** The web application on a platform that is open already; closed as that of `openWebApp`. */
export async function openWebAppOn(platform: Platform): Promise<WebApp> {
  const stopping = new AbortController();
  const app = await buildApp(platform, {
    metrics: createMetrics(platform),
    readiness: watchReadiness(platform, stopping.signal),
    stopping: stopping.signal,
    // A busy machine makes it refuse nothing.
    maxEventLoopDelayMs: 0,
  });
  atTheEnd(() => app.close());
  return { app, platform };
}

/** What a browser sends with a form of a page of ours. */
export const OWN_ORIGIN = { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' };

/** Sends a form as a browser does. */
export function sendForm(
  { app, platform }: WebApp,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) {
  return app.inject({
    method: 'POST',
    url: `${platform.config.basePath}${path}`,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'text/html',
      ...OWN_ORIGIN,
      ...headers,
    },
    payload: new URLSearchParams(fields).toString(),
  });
}

/** Asks for a page as a browser does. */
export function getPage({ app, platform }: WebApp, path: string, headers: Record<string, string> = {}) {
  return app.inject({
    url: `${platform.config.basePath}${path}`,
    headers: { accept: 'text/html', ...headers },
  });
}

/** What a page says, without tags. */
export function textOf(page: string): string {
  return page
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('&#39;', '’');
}
