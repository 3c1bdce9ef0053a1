import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { kindOf } from './kinds.ts';
import { processorSeconds } from './processor-time.ts';

const DEAREST = 40;

/**
 * Prints the processor seconds of a run: of the dearest files, of each kind of file, and of what the files share. A path
 * in `TEST_COSTS_FILE` gets those of every file, as JSON.
 */
export default class TestCosts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const costs = modules
      .map((module) => ({
        file: relative(process.cwd(), module.moduleId),
        tests: [...module.children.allTests()].length,
        seconds: module.meta().processorSeconds ?? 0,
      }))
      .toSorted((a, b) => b.seconds - a.seconds);
    const shared = [...processorSeconds().ofChildren].filter(([name]) => /mongod|redis|valkey/.test(name));
    const { user, system } = process.cpuUsage();
    shared.push(['vitest itself', (user + system) / 1_000_000]);
    const kinds = [...Map.groupBy(costs, ({ file }) => kindOf(file))];
    const all = sum(costs.map(({ seconds }) => seconds)) + sum(shared.map(([, seconds]) => seconds));
    const lines = [
      `Processor seconds of the ${Math.min(DEAREST, costs.length)} dearest of ${costs.length} files:`,
      ...costs.slice(0, DEAREST).map(({ seconds, file, tests }) => row(seconds, `${file} (${tests} tests)`)),
      'Of all files of a kind:',
      ...kinds.map(([kind, files]) =>
        row(sum(files.map(({ seconds }) => seconds)), `${kind} (${files.length} files)`),
      ),
      'Of what the files share:',
      ...shared.map(([name, seconds]) => row(seconds, name)),
      row(all, 'in all'),
    ];
    // At exit, so that the lines come after the summary.
    process.once('exit', () => console.log(lines.join('\n')));
    const path = process.env.TEST_COSTS_FILE;
    if (path) writeFileSync(path, JSON.stringify({ all, shared: Object.fromEntries(shared), costs }));
  }
}

const row = (seconds: number, what: string) => `${seconds.toFixed(1).padStart(8)}  ${what}`;

const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0);
