import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildApp } from '../../src/app.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { openServices } from '../../src/own-services/open-services.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { type AppDeps, openAppDeps } from '../../src/process/app-deps.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { buildWorkers, WORKER_OPTIONS } from '../../workers/build-workers.ts';
import type { StoppedClock } from '../support/stopped-clock.ts';

/** Functions that clean up. They run in reverse order. */
export type Ends = (() => Promise<unknown>)[];

/** The site in this process, at a moment that does not pass. */
export type StillSite = {
  /** The address in pages and pictures. */
  url: string;
  /** Where the site really listens: `127.0.0.1:41234`. */
  host: string;
  deps: AppDeps;
  clock: StoppedClock;
  /** Starts workers for these queues; for none: for all. */
  work(...queues: string[]): void;
};

const URL_IN_PAGES = 'http://localhost:3000';

/** No wait for a listener ends by itself: a listener that is silent stays under test. */
const FOR_EVER_MS = 3_600_000;

/**
 * Starts the site with MongoDB and Redis of its own, in a new folder. The time of this process stops at `at`, and its
 * random numbers are all the same, so the same data makes the same pages. Only ids differ, and times of real waits.
 */
export async function openStillSite(at: Date, ends: Ends, signal: AbortSignal): Promise<StillSite> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tallyport-screenshots-'));
  // Variables of this machine must not change the pages.
  const config = loadConfig({
    DATA_DIR: dataDir,
    LOG_LEVEL: 'error',
    PUBLIC_URL: URL_IN_PAGES,
    ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
    DESTINATION_LIMIT: '1000000',
    ACCOUNT_LIMIT: '1000000',
    MAX_EVENT_LOOP_DELAY_MS: '0',
    RELAY_INTERVAL_MS: '60000',
    OPERATOR_TWO_FACTOR: 'optional',
    SITE_PAGES_DIR: fileURLToPath(new URL('site-pages', import.meta.url)),
  });
  const starting = openServices(config, console.log, ownEnvironment());
  ends.push(async () => {
    await (await starting.catch(() => undefined))?.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  const services = await starting;
  signal.throwIfAborted();
  // The services have started: they wait for each other with the real time.
  const clock = stopTime(at);
  const opened = await openAppDeps(services.config, 'screenshots', { ...WORKER_OPTIONS, traced: false });
  ends.push(() => opened.close());
  Object.assign(opened.config, { LISTENER_TIMEOUT_MS: FOR_EVER_MS, LEASE_MS: 4 * FOR_EVER_MS });
  const deps = { ...opened, clock, clockSkew: () => 0 };
  // mongod goes by the real time and would delete sessions.
  await deps.mongo.db.admin().command({ setParameter: 1, ttlMonitorEnabled: false });
  await migrateDatabase(deps.mongo);
  const metrics = createMetrics(deps);
  const stopping = new AbortController();
  const app = await buildApp(deps, {
    metrics,
    readiness: () => Promise.reject(new Error('nobody asks')),
    stopping: stopping.signal,
  });
  ends.push(() => app.close());
  ends.push(async () => stopping.abort());
  const { host } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  return {
    url: URL_IN_PAGES,
    host,
    deps,
    clock,
    work(...queues) {
      const workers = buildWorkers(deps, { metrics, queues });
      ends.push(() => workers.close());
    },
  };
}

function stopTime(at: Date): StoppedClock {
  process.env.TZ = 'UTC';
  // Without it, retries would be due at other times in each run.
  Math.random = () => 0.5;
  mock.timers.enable({ apis: ['Date'], now: at });
  const set = (to: Date) => mock.timers.setTime(to.getTime());
  return { now: () => new Date(), set, move: (ms) => set(new Date(Date.now() + ms)) };
}
