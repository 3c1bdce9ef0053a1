import { ObjectId } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { addSums, emptySums } from '../../src/history/daily-stats.ts';
import { type SummedSample, sumProbes } from '../../src/history/sum-samples.ts';
import { depsAt } from './samples.ts';

const AT = '2028-02-29T12:00:00Z';
const serverId = new ObjectId();

let deps: Awaited<ReturnType<typeof depsAt>>;

beforeAll(async () => {
  deps = await depsAt(AT);
});

const sample = (changes: Partial<SummedSample>): SummedSample => ({
  serverId,
  at: new Date(AT),
  seconds: 300,
  status: 'online',
  onlinePlayers: 0,
  latencyMs: null,
  ...changes,
});

it('a sample counts with its seconds, in any order and in parts', async () => {
  const samples = [
    sample({ onlinePlayers: 10, latencyMs: 20 }),
    sample({ onlinePlayers: 40, latencyMs: 50, seconds: 100 }),
    sample({ onlinePlayers: 20 }),
    sample({ onlinePlayers: null, seconds: 200 }),
    sample({ status: 'offline', onlinePlayers: 99, seconds: 60 }),
    sample({ status: 'unknown', reason: 'unconfirmed', seconds: 30 }),
    sample({ status: 'unknown', reason: 'canary', seconds: 40 }),
  ];
  const expected = {
    onlineSeconds: 900,
    hiddenSeconds: 200,
    offlineSeconds: 60,
    unconfirmedSeconds: 30,
    canarySeconds: 40,
    playerSeconds: 10 * 300 + 40 * 100 + 20 * 300,
    latencySum: 20 * 300 + 50 * 100,
    latencySeconds: 400,
    peakPlayers: 40,
  };
  for (const order of [samples, samples.toReversed()]) {
    expect(await sumProbes(deps, order)).toEqual([{ _id: { serverId, day: '2028-02-29' }, ...expected }]);
    let sums = emptySums();
    for (const part of [order.slice(0, 2), order.slice(2)]) {
      const [{ _id: _, ...added } = { _id: null, ...emptySums() }] = await sumProbes(deps, part);
      sums = addSums(sums, added);
    }
    expect(sums).toEqual(expected);
  }
});

it('a check by hand counts only for the peak', async () => {
  const [sums] = await sumProbes(deps, [sample({ seconds: 0, onlinePlayers: 7, latencyMs: 5 })]);
  expect(sums).toMatchObject({ ...emptySums(), peakPlayers: 7 });
});
