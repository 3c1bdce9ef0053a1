import { expect, it } from 'vitest';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { countProbe } from '../../workers/probe-servers.ts';
import { probingBench } from './probing-bench.ts';

it('reads canaries as TCP ports or game servers', () => {
  const { CANARY_ADDRESSES } = loadConfig({
    CANARY_ADDRESSES: 'example.org:443, minecraft@play.example.org:25565,[2001:db8::1]:53',
  });
  expect(CANARY_ADDRESSES).toEqual([
    { game: null, host: 'example.org', port: 443 },
    { game: 'minecraft', host: 'play.example.org', port: 25_565 },
    { game: null, host: '2001:db8::1', port: 53 },
  ]);
});

it('names each canary that cannot be read', () => {
  for (const wrong of [
    'example.org',
    'example.org:0',
    'example.org:70000',
    'http://example.org:80',
    '@x:1',
  ]) {
    expect(() => loadConfig({ CANARY_ADDRESSES: `example.org:443,${wrong}` })).toThrow(`“${wrong}”`);
  }
});

it('probes by default, and reports invalid PROBES and PROBE_CONCURRENCY', () => {
  expect(loadConfig({})).toMatchObject({ PROBES: 'on', PROBE_CONCURRENCY: 128, CANARY_ADDRESSES: [] });
  expect(() => loadConfig({ PROBES: 'no' })).toThrow('PROBES (“no”) must be one of on, off');
  expect(() => loadConfig({ PROBE_CONCURRENCY: '0' })).toThrow(
    'PROBE_CONCURRENCY (“0”) must be a whole number',
  );
});

it('shows how long a server has been due, checks by result, and the canary', async () => {
  const { deps, serverId } = await probingBench();
  const nextAt = after(deps.clock.now(), -2 * MINUTE);
  await deps.servers.updateOne({ _id: serverId }, { $set: { 'probe.nextAt': nextAt } });
  const metrics = createMetrics(deps);
  countProbe(metrics, 'answered');
  countProbe(metrics, 'canary-failed');
  const text = await metrics.text();
  expect(text).toContain('\ntallyport_probe_lateness_seconds 120\n');
  expect(text).toContain('\ntallyport_probes_total{outcome="answered"} 1\n');
  expect(text).toContain('\ntallyport_canary_up 0\n');
  countProbe(metrics, 'failed');
  expect(await metrics.text()).toContain('\ntallyport_canary_up 1\n');
});
