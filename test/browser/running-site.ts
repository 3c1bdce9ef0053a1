import { freePort } from '../../src/embedded/service-process.ts';
import type { Platform } from '../../src/process/platform.ts';
import { testPlatform } from '../support/test-platform.ts';
import { CHEAP_PASSWORDS, openWebAppOn } from '../support/web-app.ts';
import { startWorker } from '../support/workers.ts';

/** Listeners on loopback are allowed, and due votes are found soon. Time limits are those of production. */
const LOOPBACK = { ALLOWED_PRIVATE_RANGES: '127.0.0.0/8', RELAY_INTERVAL_MS: '200' };

/** The site on a port, with a worker, on a database of its own. */
export type RunningSite = {
  /** Where it is: `http://127.0.0.1:41234`. */
  url: string;
  /** Its platform, for what a test prepares without the pages. */
  platform: Platform;
};

/** Starts the site and a worker; both end when the test ends, or the file (see `atTheEnd`). */
export async function startSite(env: Record<string, string> = {}): Promise<RunningSite> {
  // Links name the site's address: it must be known before the site runs.
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const opened = await testPlatform({ ...LOOPBACK, PUBLIC_URL: url, ...env });
  const platform = { ...opened, passwords: CHEAP_PASSWORDS };
  const { app } = await openWebAppOn(platform);
  await app.listen({ host: '127.0.0.1', port });
  await startWorker(platform.config);
  return { url, platform };
}
