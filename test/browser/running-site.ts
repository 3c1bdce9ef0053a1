import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { PROOF_ITERATIONS } from '../../src/votes/web/proof-of-work.ts';
import { testDeps } from '../support/test-deps.ts';
import { CHEAP_PASSWORDS, openWebAppOn } from '../support/web-app.ts';
import { startWorker } from '../support/workers.ts';

/** Allows listeners on loopback, and looks for due votes more often. The time limits are those of production. */
const LOOPBACK = { ALLOWED_PRIVATE_RANGES: '127.0.0.0/8', RELAY_INTERVAL_MS: '200' };

/** Settings with which the listing looks like an operator's own. */
const OPERATOR = {
  CONTACT: 'help@example.org',
  FOOTER_LINKS: 'Forum https://forum.example.org',
  SITE_PAGES_DIR: new URL('site-pages', import.meta.url).pathname,
};

/** The site on a port, with a worker and its own database. */
export type RunningSite = {
  /** The site's URL: `http://127.0.0.1:41234`. */
  url: string;
  /** The dependencies of the site, for test data. */
  deps: AppDeps;
  /** The routes of the site. */
  routes: FastifyInstance['site']['routes'];
};

/** Starts the site and a worker; both stop when the test or the file ends (see `atTheEnd`). */
export async function startSite(env: Record<string, string> = {}): Promise<RunningSite> {
  // Choose the port before the site starts, because links contain the site's URL. Until then no other test gets it.
  const holder = createServer();
  await once(holder.listen(0, '127.0.0.1'), 'listening');
  const { port } = holder.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const opened = await testDeps({ ...LOOPBACK, ...OPERATOR, PUBLIC_URL: url, ...env });
  const deps = { ...opened, passwords: CHEAP_PASSWORDS, proofIterations: PROOF_ITERATIONS };
  const { app } = await openWebAppOn(deps);
  await new Promise((resolve) => holder.close(resolve));
  await app.listen({ host: '127.0.0.1', port });
  await startWorker(deps.config);
  return { url, deps, routes: app.site.routes };
}
