import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Tests that spawn processes share their compiled code, which halves what each start costs.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('node_modules/.cache/tallyport-test', import.meta.url),
);

/**
 * Files whose tests spawn processes, start services of their own or drive a browser; and those that take long: real
 * time-outs, many runs of a property, much data.
 */
const SLOW = 'test/**/*.{process,browser,slow}.test.ts';

const shared = {
  setupFiles: ['test/support/setup.ts'],
  // The files of a worker share their modules: to import them anew would take a second of processor time a file.
  isolate: false,
  testTimeout: 90_000,
  hookTimeout: 120_000,
  teardownTimeout: 30_000,
  // A busy machine needs longer than the library's one second now and then.
  expect: { poll: { timeout: 45_000 } },
  restoreMocks: true,
  unstubGlobals: true,
};

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Two cores: more files use what the others leave while they wait for processes, services and time-outs.
    maxWorkers: 4,
    projects: [
      { test: { ...shared, name: 'fast', include: ['test/**/*.test.ts'], exclude: [SLOW] } },
      { test: { ...shared, name: 'slow', include: [SLOW] } },
    ],
  },
});
