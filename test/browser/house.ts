import { createServer } from 'node:net';
import type { ConnectedConfig } from '../../src/config.ts';
import { migrateDatabase } from '../../src/migrate.ts';
import { openPlatform, type Platform } from '../../src/platform.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { QUICK } from '../support/delivering.ts';
import { testConfig } from '../support/test-platform.ts';
import { startWeb } from '../support/web-process.ts';
import { startWorker } from '../support/workers.ts';

/** The running platform, as people meet it: a web process and a worker, on a database of their own. */
export type House = {
  /** Where the site is: `http://127.0.0.1:41234`. */
  url: string;
  /** The same database, for what a test prepares behind the pages' back. */
  platform: Platform;
  config: ConnectedConfig;
};

/** Starts web and worker; everything ends when the test ends, or with `lasting()`. */
export async function openHouse(env: Record<string, string> = {}): Promise<House> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const changes = { ...QUICK, PORT: String(port), PUBLIC_URL: url, ...env };
  const config = testConfig(changes);
  const platform = await openPlatform(config, 'test');
  atTheEnd(() => platform.close());
  await migrateDatabase(platform.mongo.db);
  const { MONGODB_URI, REDIS_URL, QUEUE_PREFIX, SECRET_KEY } = config;
  await Promise.all([
    startWeb({
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'test',
      MONGODB_URI,
      REDIS_URL,
      QUEUE_PREFIX,
      SECRET_KEY,
      METRICS_PORT: '0',
      ...changes,
    }),
    startWorker(config),
  ]);
  return { url, platform, config };
}

/** A port that nobody listens on: the site's address must be known before it is there. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
