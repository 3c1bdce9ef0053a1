import type { FastifyInstance } from 'fastify';
import { onTestFinished } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { watchReadiness } from '../../src/health.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { Platform } from '../../src/platform.ts';
import { hashPassword } from '../../src/site/operator/password.ts';
import { testPlatform } from '../support/test-platform.ts';

export const PASSWORD = 'three ships in the bay';

const passwordHash = hashPassword(PASSWORD);

export type WebApp = { app: FastifyInstance; platform: Platform };

/** What an operator sets for `PASSWORD` to open the desk. */
export async function operatorEnv(): Promise<{ OPERATOR_PASSWORD_HASH: string }> {
  return { OPERATOR_PASSWORD_HASH: await passwordHash };
}

/** The web application with an operator's password set; closed when the test ends. */
export async function webApp(env: Record<string, string> = {}): Promise<WebApp> {
  return webAppOn(await testPlatform({ ...(await operatorEnv()), ...env }));
}

/** The web application on a platform that is open already; closed when the test ends. */
export async function webAppOn(platform: Platform): Promise<WebApp> {
  const stopping = new AbortController().signal;
  const app = await buildApp(platform, {
    metrics: createMetrics(platform),
    readiness: watchReadiness(platform, stopping),
    stopping,
  });
  onTestFinished(() => app.close());
  return { app, platform };
}

/** What a browser sends with a form of a page of ours. */
export const OWN_ORIGIN = { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' };

/** Sends the sign-in form as a browser does. */
export function sendPassword(
  { app, platform }: WebApp,
  password: string,
  { next, headers }: { next?: string; headers?: Record<string, string> } = {},
) {
  return app.inject({
    method: 'POST',
    url: `${platform.config.basePath}/operator/sign-in`,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'text/html',
      ...OWN_ORIGIN,
      ...headers,
    },
    payload: new URLSearchParams({ password, ...(next ? { next } : {}) }).toString(),
  });
}

/** Signs in, and returns the header that tells who one is. */
export async function signedIn(web: WebApp): Promise<{ cookie: string }> {
  const answer = await sendPassword(web, PASSWORD);
  const [cookie] = answer.cookies;
  if (!cookie) throw new Error(`not signed in: ${answer.statusCode}`);
  return { cookie: `${cookie.name}=${encodeURIComponent(cookie.value)}` };
}
