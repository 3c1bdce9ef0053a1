import { spawnSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';
import { type Binary, onPath } from '../../src/own-services/binary.ts';
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { findRedis } from '../../src/own-services/find-redis.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { findChromium } from '../browser/find-chromium.ts';
import { sweepFolders } from './service-folders.ts';
import { startMongod, startRedis } from './services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The mongod that all test files share. Each file has its own database: `freshNames()`. */
    mongodbUri: string;
    /** The Redis that all test files share. Each file has its own queue prefix. */
    redisUrl: string;
    /** The programs that `startMongod()` and `startRedis()` run. */
    mongodBinary: Binary;
    redisBinary: Binary;
    /** The path of the browser for page tests; null if there is none and none is required. */
    chromium: string | null;
    /** Whether `promtool` is on PATH, for the tests of alert rules. */
    promtool: boolean;
    /** Whether `helm` is on PATH, for the tests of the chart. */
    helm: boolean;
    /** The path of `web-push-testing`, whose push service a test sends to; null if it is not on PATH. */
    webPushTesting: string | null;
  }
}

/** Starts one mongod and one Redis for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const env = ownEnvironment();
  // If a required program is missing, the run must end before services are started, or it would wait for them.
  project.provide('chromium', browserFor(env));
  project.provide('promtool', hasTool('promtool', 'the tests of alert rules', env.REQUIRE_TOOLS));
  project.provide('helm', hasTool('helm', 'the tests of the Helm chart', env.REQUIRE_TOOLS));
  const path = await onPath('web-push-testing', env);
  if (!path) noteMissing('web-push-testing', 'the tests with a push service of others', env.REQUIRE_TOOLS);
  project.provide('webPushTesting', path ?? null);
  await sweepFolders();
  const mongodBinary = await findMongod(env, console.log);
  const redisBinary = await findRedis(env, console.log);
  const mongod = await startMongod({ binary: mongodBinary });
  const redis = await startRedis({ binary: redisBinary });
  project.provide('mongodbUri', mongod.uri);
  project.provide('redisUrl', redis.url);
  project.provide('mongodBinary', mongodBinary);
  project.provide('redisBinary', redisBinary);
  return async () => {
    await redis.stop();
    await mongod.stop();
    await sweepFolders();
  };
}

/** The browser. With `REQUIRE_BROWSER` set, as in CI, a missing browser fails the run, so no page test is skipped. */
function browserFor(env: Record<string, string | undefined>): string | null {
  const chromium = findChromium(env);
  if (chromium) return chromium;
  const missing = 'no Chromium on PATH: install one (Debian: apt install chromium) or name it in CHROMIUM';
  if (env.REQUIRE_BROWSER) throw new Error(missing);
  console.log(`The tests of pages are skipped: ${missing}.`);
  return null;
}

/** Whether a program is on PATH. */
function hasTool(name: string, tests: string, required: string | undefined): boolean {
  if (!spawnSync(name, ['--help']).error) return true;
  noteMissing(name, tests, required);
  return false;
}

/** With `REQUIRE_TOOLS` set, as in CI, a missing program fails the run, so no test is skipped. */
function noteMissing(name: string, tests: string, required: string | undefined): void {
  if (required) throw new Error(`no ${name} on PATH`);
  console.log(`There is no ${name} on PATH: ${tests} are skipped.`);
}
