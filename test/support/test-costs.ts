import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { processorSeconds } from './processor-time.ts';

const DEAREST = 40;

/**
 * Prints the processor seconds of a run: those of the dearest files, of each kind of file, and of what the files share
 * (MongoDB, Redis, vitest itself). `TEST_COSTS=FILE` also writes those of every file as JSON.
 */
export default class TestCosts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const costs = modules
      .map((module) => ({
        file: relative(process.cwd(), module.moduleId),
        seconds: module.meta().processorSeconds ?? 0,
        tests: [...module.children.allTests()].length,
      }))
      .toSorted((a, b) => b.seconds - a.seconds);
    const { all, ofChildren } = processorSeconds();
    const shared = [...ofChildren].filter(([name]) => /mongod|redis|valkey/.test(name));
    const byKind = Map.groupBy(costs, ({ file }) => /\.(\w+)\.test\.ts$/.exec(file)?.[1] ?? 'plain');
    const lines = [
      `Processor seconds of the ${Math.min(DEAREST, costs.length)} dearest of ${costs.length} files:`,
      ...costs.slice(0, DEAREST).map(({ file, seconds, tests }) => row(seconds, `${file} (${tests} tests)`)),
      'By kind of file:',
      ...[...byKind].map(([kind, files]) => row(total(files), `${kind} (${files.length} files)`)),
      'Of what the files share:',
      ...shared.map(([name, seconds]) => row(seconds, name)),
      row(all, 'the whole run, with vitest itself'),
    ];
    // At exit, so that it comes after the summary.
    process.once('exit', () => console.log(lines.join('\n')));
    const path = process.env.TEST_COSTS;
    if (path && path !== '1') writeFileSync(path, JSON.stringify({ all, shared: Object.fromEntries(shared), costs }));
  }
}

const row = (seconds: number, what: string) => `${seconds.toFixed(1).padStart(8)}  ${what}`;

const total = (files: { seconds: number }[]) => files.reduce((all, { seconds }) => all + seconds, 0);
