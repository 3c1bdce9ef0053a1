import type { Reporter, TestModule } from 'vitest/node';

/** Names at the end of a run the tests that passed only when tried once more: each is a fault to mend. */
export default class FlakyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const flaky = modules
      .flatMap((module) => [...module.children.allTests()])
      .filter((test) => test.diagnostic()?.flaky);
    for (const test of flaky) {
      console.warn(`FLAKY, passed only when tried again: ${test.module.relativeModuleId}: ${test.fullName}`);
    }
  }
}
