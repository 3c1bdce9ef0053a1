import { expect, inject, it } from 'vitest';
import { judge } from './judge.ts';
import { SHORT_PAUSE_MS } from './plan.ts';
import type { Topology } from './processes.ts';
import { runStorm } from './storm.ts';

type Short = { topology: Topology; onlyServices: boolean; lengthMs: number };

/** Storms with a fixed seed, each long enough for a fault of each kind. */
const STORMS: Short[] = [
  { topology: { mongod: 'alone', redis: 'alone' }, onlyServices: false, lengthMs: 26_000 },
  { topology: { mongod: 'replica-set', redis: 'sentinel' }, onlyServices: true, lengthMs: 16_000 },
  { topology: { mongod: 'alone', redis: 'cluster' }, onlyServices: true, lengthMs: 12_000 },
];

it.each(STORMS)('breaks no rule during a storm of faults: MongoDB $topology.mongod, Redis $topology.redis', {
  timeout: 300_000,
}, async ({ topology, onlyServices, lengthMs }) => {
  const { history, faults, kinds } = await runStorm({
    binaries: { mongod: inject('mongodBinary'), redis: inject('redisBinary') },
    topology,
    onlyServices,
    seed: 20_261_122,
    lengthMs,
    votesPerSecond: 20,
    pauseMs: SHORT_PAUSE_MS,
  });
  expect(judge(history)).toEqual([]);
  expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(kinds));
  // It was a storm: there were answers, and some were lost.
  const answers = new Set(history.calls.map(({ answer }) => answer.kind));
  expect(answers).toEqual(new Set(['accepted', 'refused', 'unknown']));
});
