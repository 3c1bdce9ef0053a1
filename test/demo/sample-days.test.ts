import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { samplesOf } from '../../src/demo/sample-days.ts';
import { SAMPLES } from '../../src/demo/samples.ts';
import { after, DAY } from '../../src/platform/clock.ts';

test('the made-up latency of a server that answers on this machine is about what its next probe finds', () => {
  const now = new Date('2026-11-26T12:00:00Z');
  const probed = SAMPLES.filter(({ kind }) => kind === 'probed');
  expect(probed.length).toBeGreaterThan(5);
  for (const sample of probed) {
    const samples = samplesOf({ serverId: new ObjectId(), sample }, after(now, -3 * DAY), now);
    const latencies = samples.flatMap(({ latencyMs }) => latencyMs ?? []);
    expect(latencies.length).toBeGreaterThan(100);
    expect(Math.max(...latencies)).toBeLessThanOrEqual(3);
    expect(Math.min(...latencies)).toBeGreaterThanOrEqual(1);
  }
});
