import { expect, inject, it } from 'vitest';
import { judge } from './judge.ts';
import { FAULTS, SHORT_PAUSE_MS } from './plan.ts';
import { runStorm } from './storm.ts';

/** With this seed long enough for a fault of each kind. */
const LENGTH_MS = 16_000;

it('breaks no rule during a storm of faults', { timeout: 240_000 }, async () => {
  const { history, faults } = await runStorm({
    binaries: { mongod: inject('mongodBinary'), redis: inject('redisBinary') },
    seed: 20_261_122,
    lengthMs: LENGTH_MS,
    votesPerSecond: 20,
    pauseMs: SHORT_PAUSE_MS,
  });
  expect(judge(history)).toEqual([]);
  expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(FAULTS));
  // It was a storm: there were answers, and some were lost.
  const kinds = new Set(history.calls.map(({ answer }) => answer.kind));
  expect(kinds).toEqual(new Set(['accepted', 'refused', 'unknown']));
});
