import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Tests that spawn processes share their compiled code, which halves what each start costs.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('node_modules/.cache/tallyport-test', import.meta.url),
);

/** Kinds of files that cost much or mostly wait; `npm run test:fast` leaves them out. */
const SLOW_KINDS = ['process', 'browser', 'slow', 'faults'];

/** The part of the run in which slow files begin; the last one then ends before the last fast one. */
const SLOW_UNTIL = 0.85;

/**
 * Spreads the slow files evenly among the fast ones: the fast ones use the processor time that the slow ones leave
 * while they wait for processes, services and time-outs.
 */
class MixedSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Not an array's `sort`, which the linter takes it for.
    // oxlint-disable-next-line unicorn/no-array-sort
    const sorted = await super.sort(files);
    const placed = ['', ...SLOW_KINDS].flatMap((kind) => {
      const group = sorted.filter((file) => kindOf(file) === kind);
      const until = kind === '' ? 1 : SLOW_UNTIL;
      return group.map((file, index) => ({ file, at: (until * index) / group.length }));
    });
    return placed.toSorted((a, b) => a.at - b.at).map(({ file }) => file);
  }
}

function kindOf({ moduleId }: TestSpecification): string {
  return SLOW_KINDS.find((kind) => moduleId.endsWith(`.${kind}.test.ts`)) ?? '';
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/setup.ts'],
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
