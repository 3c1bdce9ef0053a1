import { expect, inject, it } from 'vitest';
import { SECOND } from '../../src/platform/clock.ts';
import { judge } from './judge.ts';
import { runUpgrade } from './upgrade.ts';

it('fails no request and loses no vote during an upgrade from 0.1.0 and back', {
  timeout: 480_000,
}, async () => {
  const { history, reads, failedReads } = await runUpgrade({
    binaries: { mongod: inject('mongodBinary'), redis: inject('redisBinary') },
    from: '0.1.0',
    votesPerSecond: 10,
    steadyMs: SECOND,
  });
  expect(failedReads).toEqual([]);
  expect(history.calls.filter(({ answer }) => answer.kind === 'unknown')).toEqual([]);
  expect(judge(history)).toEqual([]);
  // Nothing was cut: each vote arrived once.
  expect(history.receipts.length).toBe(history.votes.length);
  expect(reads).toBeGreaterThan(100);
});
