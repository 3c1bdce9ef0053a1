/** `npm run fuzz -- [options]`: gives every parser of a stranger's bytes mutated inputs. Exit code 1 for a fault. */
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { positive, script } from '../support/script-options.ts';
import { type Found, fuzz } from './fuzz.ts';
import { faultsOf } from './limits.ts';
import { TARGETS } from './targets.ts';

type Options = { minutes: number; seed: number; target?: string };

const { minutes, seed, target } = script(
  'npm run fuzz --',
  'Gives every parser that reads bytes of a stranger (game servers, vote listeners, websites, browsers) mutated inputs, and checks that it throws nothing outside its type, takes time linear in the input, and keeps no memory. Ends with a table.',
)
  .option('--minutes <n>', 'how long, for each parser', positive, 10)
  .option('--seed <n>', 'the inputs; the same seed, the same inputs', positive, 1)
  .option('--target <text>', 'only the parsers whose name contains this text')
  .parse()
  .opts<Options>();

const chosen = TARGETS.filter(({ name }) => name.includes(target ?? ''));
if (chosen.length === 0) {
  console.error(
    `No parser has “${target}” in its name. There are:\n${TARGETS.map(({ name }) => `  ${name}`).join('\n')}`,
  );
  process.exit(2);
}

/** The time between two lines of progress. */
const PROGRESS_MS = 30 * SECOND;
let isWrong = false;
console.log(
  `${'parser'.padEnd(44)}${'inputs'.padStart(12)}${'slowest'.padStart(12)}${'growth'.padStart(8)}${'kept'.padStart(10)}`,
);
for (const one of chosen) {
  const found = inParts(one, minutes * MINUTE);
  console.log(rowOf(found));
  for (const fault of faultsOf(found)) {
    isWrong = true;
    console.error(`  ${fault}`);
  }
}
process.exit(isWrong ? 1 : 0);

/** Runs a parser in parts of half a minute, each with a seed of its own, so that there is progress to see. */
function inParts(one: (typeof TARGETS)[number], forMs: number): Found {
  let all: Found | undefined;
  for (let part = 0; part * PROGRESS_MS < forMs; part += 1) {
    const found = fuzz(one, { seed: seed + part, forMs: Math.min(PROGRESS_MS, forMs - part * PROGRESS_MS) });
    all = {
      ...found,
      inputs: found.inputs + (all?.inputs ?? 0),
      slowestMs: Math.max(found.slowestMs, all?.slowestMs ?? 0),
      growth: Math.max(found.growth, all?.growth ?? 0),
      keptBytes: Math.max(found.keptBytes, all?.keptBytes ?? 0),
    };
    if (process.stderr.isTTY) process.stderr.write(`\r${one.name}: ${all.inputs} inputs\r`);
    if (found.thrown) break;
  }
  return all as Found;
}

function rowOf({ target: name, inputs, slowestMs, growth, keptBytes }: Found): string {
  return [
    name.padEnd(44),
    String(inputs).padStart(12),
    `${slowestMs.toFixed(1)} ms`.padStart(12),
    growth.toFixed(1).padStart(8),
    `${(keptBytes / 1_048_576).toFixed(1)} MB`.padStart(10),
  ].join('');
}
