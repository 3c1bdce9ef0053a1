import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { ObjectId } from 'mongodb';
import { onTestFinished } from 'vitest';
import { createAuth } from '../../src/accounts/auth.ts';
import type { Role } from '../../src/accounts/person.ts';
import { buildApp } from '../../src/app.ts';
import { watchReadiness } from '../../src/health.ts';
import { createMetrics } from '../../src/metrics.ts';
import { migrateDatabase } from '../../src/migrate.ts';
import { openPlatform, type Platform } from '../../src/platform.ts';
import { testConfig, testPlatform } from '../support/test-platform.ts';

/** Everybody's password. */
export const PASSWORD = 'three ships in the bay';

export type WebApp = { app: FastifyInstance; platform: Platform };

/** The web application on a database of its own; closed when the test ends. */
export async function webApp(env: Record<string, string> = {}): Promise<WebApp> {
  return webAppOn(await testPlatform(env));
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

/** A web application that the tests of a file share; whoever opens it closes it. */
export async function openWebApp(
  env: Record<string, string> = {},
): Promise<WebApp & { close(): Promise<void> }> {
  const platform = await openPlatform(testConfig(env), 'test');
  await migrateDatabase(platform.mongo.db);
  const stopping = new AbortController().signal;
  const readiness = watchReadiness(platform, stopping);
  const app = await buildApp(platform, { metrics: createMetrics(platform), readiness, stopping });
  return {
    app,
    platform,
    async close() {
      await app.close();
      await platform.close();
    },
  };
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

/** Somebody who is signed in: the header that tells so. */
export type SignedInPerson = { personId: ObjectId; email: string; headers: { cookie: string } };

/** Makes a person of `role` and signs them in. An operator has a second factor, unless `twoFactor` is false. */
export async function signedInAs(
  { platform }: Pick<WebApp, 'platform'>,
  role: Role,
  { twoFactor = true, email = `${role}-${randomUUID()}@example.org` } = {},
): Promise<SignedInPerson> {
  const auth = createAuth(
    { ...platform, config: { ...platform.config, SMTP_URL: undefined } },
    async () => {},
  );
  const { headers, response } = await auth.api.signUpEmail({
    body: { name: role === 'owner' ? 'Olivia Owner' : 'Oscar Operator', email, password: PASSWORD },
    returnHeaders: true,
  });
  const personId = new ObjectId(response.user.id);
  await platform.people.updateOne(
    { _id: personId },
    { $set: { role, emailVerified: true, twoFactorEnabled: role === 'operator' && twoFactor } },
  );
  const cookie = headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  return { personId, email, headers: { cookie } };
}

/** Signs an operator in, and returns the header that tells who one is. */
export async function signedIn(web: WebApp): Promise<{ cookie: string }> {
  return (await signedInAs(web, 'operator')).headers;
}
