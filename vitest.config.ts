import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { type Kind, kindOf } from './test/support/kinds.ts';

// Tests that spawn processes share their compiled code, which halves what each start costs.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('node_modules/.cache/tallyport-test', import.meta.url),
);

/** `npm run test:costs` counts the processor seconds of each file. */
const COUNT_COSTS = process.env.TEST_COSTS === '1';

/** The part of the run in which the files of a kind begin: a long file that begins late would end alone. */
const BEGIN_UNTIL: Record<Kind, number> = {
  doors: 0.3,
  process: 0.85,
  browser: 0.85,
  slow: 0.85,
  faults: 0.85,
  plain: 1,
};

/**
 * Spreads the slow files evenly among the fast ones: the fast ones use the processor time that the slow ones leave
 * while they wait for processes, services and time-outs.
 */
class MixedSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Not an array's `sort`, which the linter takes it for.
    // oxlint-disable-next-line unicorn/no-array-sort
    const sorted = await super.sort(files);
    const placed = [...Map.groupBy(sorted, ({ moduleId }) => kindOf(moduleId))].flatMap(([kind, group]) =>
      group.map((file, index) => ({ file, at: (BEGIN_UNTIL[kind] * index) / group.length })),
    );
    return placed.toSorted((a, b) => a.at - b.at).map(({ file }) => file);
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: [
      'default',
      './test/support/closing-line.ts',
      ...(COUNT_COSTS ? ['./test/support/test-costs.ts'] : []),
    ],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: [...(COUNT_COSTS ? ['test/support/count-costs.ts'] : []), 'test/support/setup.ts'],
    // The files of a worker share their modules: to import them anew would take a second of processor time a file.
    isolate: false,
    // Two cores: more files use what the others leave while they wait for processes, services and time-outs.
    maxWorkers: 4,
    sequence: { sequencer: MixedSequencer },
    testTimeout: 90_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    // A busy machine needs longer than the library's one second now and then.
    expect: { poll: { timeout: 45_000 } },
    restoreMocks: true,
    unstubGlobals: true,
  },
});
