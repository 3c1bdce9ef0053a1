import { expect, test } from 'vitest';
import { SECOND } from '../../src/platform/clock.ts';
import { since } from '../support/cpu-time.ts';
import { fuzz } from './fuzz.ts';
import { faultsOf } from './limits.ts';
import type { Target } from './target.ts';
import { TARGETS } from './targets.ts';

/** The time for all parsers together. */
const ALL_MS = 30 * SECOND;

test.each(
  TARGETS.map((target) => [target.name, target] as const),
)('%s: whatever comes, it throws nothing outside its type, its time is linear and it keeps no memory', (_, target) => {
  const found = fuzz(target, { seed: 1, forMs: ALL_MS / TARGETS.length });
  expect(faultsOf(found)).toEqual([]);
  expect(found.inputs).toBeGreaterThan(100);
});

// It uses the processor for seven seconds, and takes several times as long beside other test files.
test('a parser that throws, takes quadratic time or keeps its inputs is found out', {
  timeout: 120_000,
}, () => {
  const kept: Buffer[] = [];
  const one = (parse: Target['parse']): string[] => {
    const target: Target = {
      name: 'a bad parser',
      seeds: [Buffer.from('{"status":"ok"}')],
      parse,
      isOwnError: (error) => error instanceof SyntaxError,
      repeated: [{ piece: 'ab' }],
    };
    return faultsOf(fuzz(target, { seed: 1, forMs: SECOND }));
  };
  expect(one((input) => JSON.parse(input.toString()))).toEqual([]);
  expect(one((input) => input.indexOf('{') === 1 && Number.prototype.toFixed.call(1, -1))).toEqual([
    expect.stringMatching(/throws RangeError.* in hex: [\da-f]{4}$/s),
  ]);
  // For each 512th byte another look at all of them.
  expect(
    one((input) =>
      input.every((_, at) => at % 512 > 0 || input.reduce((sum, byte) => sum + byte, at) > 0 || at === 0),
    ),
  ).toEqual([
    expect.stringMatching(/^a bad parser: the time grows with the power [12]\.\d of the length\.$/),
  ]);
  // Slow for some inputs only, which are not like the pieces that are repeated: the known one, and the first of the others.
  let slowly = 3;
  const takeASecond = () => {
    const before = process.cpuUsage();
    while (since(before) < 1_100);
  };
  expect(one(() => slowly-- > 0 && takeASecond())).toEqual([
    expect.stringMatching(/^a bad parser: an input takes 1\d{3} ms\.$/),
  ]);
  expect(one(() => kept.length < 100 && kept.push(Buffer.alloc(1_048_576)))).toEqual([
    expect.stringContaining('keeps'),
  ]);
});
