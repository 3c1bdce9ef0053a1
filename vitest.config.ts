import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// A run starts hundreds of processes: they share their compiled code, which halves what each start costs.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('node_modules/.cache/tallyport-test', import.meta.url),
);

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 90_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    // As patient as test/support/patient.ts.
    expect: { poll: { timeout: 20_000 } },
    // On a busy machine of CI a test may run out of time: there, and for that alone, it is tried once more. A wrong
    // value fails at once, everywhere.
    retry: process.env.CI ? { count: 1, condition: /timed out|timeout \d+ ?ms exceeded/i } : 0,
    reporters: ['default', './test/support/flaky-reporter.ts'],
    // Two cores: a third file uses what the others leave while they wait for processes and far ends; more only
    // make each slower.
    maxWorkers: 3,
  },
});
