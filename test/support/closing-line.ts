import type { Reporter, TestModule } from 'vitest/node';

/**
 * Prints the counts of a run as its last line, with the name of its npm script: `test: 4000 passed, 0 failed, 1 skipped`.
 * A file that could not be loaded, and an error outside the tests, count as one failure each.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    );
    const count = (state: string) => states.filter((one) => one === state).length;
    const broken = modules.filter((module) => module.errors().length > 0).length + errors.length;
    const suite = process.env.npm_lifecycle_event?.replace(':', '-') ?? 'tests';
    const counts = `${count('passed')} passed, ${count('failed') + broken} failed, ${count('skipped')} skipped`;
    // At exit, so that this line comes after the summary that vitest's reporter prints in the same event.
    process.once('exit', () => console.log(`${suite}: ${counts}`));
  }
}
