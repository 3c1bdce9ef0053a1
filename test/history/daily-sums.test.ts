import { expect, it } from 'vitest';
import { addSample, emptySums, type SummedSample } from '../../src/history/daily-sums.ts';

const sample = (changes: Partial<SummedSample>): SummedSample => ({
  seconds: 300,
  status: 'online',
  onlinePlayers: 0,
  latencyMs: null,
  ...changes,
});

it('a sample counts with its seconds, in any order', () => {
  const samples = [
    sample({ onlinePlayers: 10, latencyMs: 20 }),
    sample({ onlinePlayers: 40, latencyMs: 50, seconds: 100 }),
    sample({ onlinePlayers: 20 }),
    sample({ status: 'offline', onlinePlayers: 99, seconds: 60 }),
    sample({ status: 'unknown', reason: 'unconfirmed', seconds: 30 }),
    sample({ status: 'unknown', reason: 'canary', seconds: 40 }),
  ];
  for (const order of [samples, samples.toReversed()]) {
    const sums = emptySums();
    for (const each of order) addSample(sums, each);
    expect(sums).toEqual({
      onlineSeconds: 700,
      offlineSeconds: 60,
      unconfirmedSeconds: 30,
      canarySeconds: 40,
      playerSeconds: 10 * 300 + 40 * 100 + 20 * 300,
      latencySum: 20 * 300 + 50 * 100,
      latencySeconds: 400,
      peakPlayers: 40,
    });
  }
});

it('a check by hand counts only for the peak', () => {
  const sums = emptySums();
  addSample(sums, sample({ seconds: 0, onlinePlayers: 7, latencyMs: 5 }));
  expect(sums).toEqual({ ...emptySums(), peakPlayers: 7 });
});
