import { expect, inject, it } from 'vitest';
import { judge } from './judge.ts';
import { runStorm } from './storm.ts';

/** A fault of each kind and more, and the calm after them. */
const LENGTH_MS = 30_000;

it('keeps every promise through a storm of faults', { timeout: 240_000 }, async () => {
  const { history } = await runStorm({
    binaries: { mongod: inject('mongodBinary'), redis: inject('redisBinary') },
    seed: 20_261_121,
    lengthMs: LENGTH_MS,
    votesPerSecond: 20,
  });
  expect(judge(history)).toEqual([]);
  // It was a storm: there were answers, and some were lost.
  const kinds = new Set(history.calls.map(({ answer }) => answer.kind));
  expect(kinds).toEqual(new Set(['accepted', 'refused', 'unknown']));
});
