import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { type ConnectedConfig, loadConfig } from '../../src/platform/config.ts';
import { createLogger } from '../../src/platform/log.ts';
import { NO_TRACING, openTracing, type Tracing } from '../../src/platform/tracing/tracing.ts';
import { graphOf } from '../import-graph.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { type FakeCollector, startFakeCollector } from '../support/fake-collector.ts';
import { collectLines } from '../support/log-lines.ts';

async function open(env: Record<string, string>) {
  const config = loadConfig({ OTEL_BSP_SCHEDULE_DELAY: '10', ...env }) as ConnectedConfig;
  const { lines, add } = collectLines();
  const log = createLogger({ LOG_LEVEL: 'info' }, 'web', { write: add });
  const tracing = await openTracing(config, { process: 'web', processId: 'host:1', log });
  onTestFinished(() => tracing.close());
  return { tracing, lines };
}

const openTo = ({ url }: FakeCollector, env: Record<string, string> = {}) =>
  open({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env });

/** Makes a span, and waits until it was exported or lost: one export after another. */
async function exportOne(tracing: Tracing, collector: FakeCollector): Promise<void> {
  const before = collector.requests;
  tracing.start({ name: 'work' }).end();
  await vi.waitUntil(() => collector.requests > before, EVENTUALLY);
}

test.each([
  ['without an endpoint', {}],
  ['with OTEL_SDK_DISABLED', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector', OTEL_SDK_DISABLED: 'true' }],
])('traces are off %s', async (_case, env) => {
  const { tracing } = await open(env);
  expect(tracing).toBe(NO_TRACING);
  expect(await tracing.run({ name: 'work' }, async ({ traceparent }) => traceparent)).toBeUndefined();
});

test.each([
  'src/web.ts',
  'workers/main.ts',
])('%s loads OpenTelemetry’s SDK only if traces are on', (entry) => {
  const sdk = ['@opentelemetry/sdk-trace', '@opentelemetry/exporter-trace-otlp-proto'];
  const [atOnce, later] = [graphOf(entry, { atOnce: true }), graphOf(entry)];
  expect(atOnce.has('src/platform/tracing/tracing.ts')).toBe(true);
  expect(sdk.filter((name) => atOnce.has(name))).toEqual([]);
  expect(sdk.filter((name) => later.has(name))).toEqual(sdk);
});

test('a span has its resource, and the endpoint of traces is used as it is', async () => {
  const collector = await startFakeCollector();
  const { tracing } = await open({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20key,x-team=a',
    OTEL_SERVICE_NAME: 'votes',
  });
  tracing.start({ name: 'work', attributes: { text: 'a', count: 3, isRight: true } }).end();
  const span = await collector.span(({ name }) => name === 'work');
  expect(span).toMatchObject({ service: 'votes', attributes: { text: 'a', count: 3, isRight: true } });
  expect(collector.headers).toMatchObject({ authorization: 'Bearer key', 'x-team': 'a' });
});

test('an error marks its span with its name, not with its message', async () => {
  const collector = await startFakeCollector();
  const { tracing } = await openTo(collector);
  const failing = tracing.run({ name: 'work' }, async () => {
    throw new TypeError('E11000 dup key: { usernameKey: "steve" }');
  });
  await expect(failing).rejects.toThrow('E11000');
  const span = await collector.span(({ name }) => name === 'work');
  expect(span).toMatchObject({ isError: true, attributes: { 'error.type': 'TypeError' }, events: [] });
  expect(collector.bodies.join()).not.toContain('steve');
});

test.each([
  ['always_on', '1', true, true],
  ['always_off', '1', false, false],
  ['traceidratio', '0', false, false],
  ['parentbased_always_on', '1', true, true],
  ['parentbased_always_off', '1', false, true],
  ['parentbased_traceidratio', '0', false, true],
])('%s with %s records a new trace: %s, the work of a recorded one: %s', async (sampler, arg, isNew, isChild) => {
  const collector = await startFakeCollector();
  const { tracing } = await openTo(collector, { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: arg });
  const parent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
  const spans = [tracing.start({ name: 'new', parent: null }), tracing.start({ name: 'child', parent })];
  expect(spans.map(({ traceparent }) => traceparent?.slice(-2))).toEqual([
    isNew ? '01' : '00',
    isChild ? '01' : '00',
  ]);
});

describe('a collector that fails', () => {
  it('costs one warning for each outage', async () => {
    const collector = await startFakeCollector();
    const { tracing, lines } = await openTo(collector, { OTEL_EXPORTER_OTLP_TIMEOUT: '100' });
    const events = () => lines.map(({ event }) => event);
    for (const round of [1, 2]) {
      collector.behaviour = 'refuse';
      for (let n = 0; n < 3; n += 1) await exportOne(tracing, collector);
      await vi.waitUntil(
        () => events().filter((one) => one === 'traces.not_exported').length === round,
        EVENTUALLY,
      );
      collector.behaviour = 'take';
      await vi.waitFor(async () => {
        await exportOne(tracing, collector);
        expect(events().filter((one) => one === 'traces.exported_again')).toHaveLength(round);
      }, EVENTUALLY);
    }
    expect(events()).toEqual([
      'traces.not_exported',
      'traces.exported_again',
      'traces.not_exported',
      'traces.exported_again',
    ]);
  });

  it.each([
    'hang',
    'drip',
  ] as const)('and may %s is given up, and the next export is made', async (behaviour) => {
    const collector = await startFakeCollector();
    const { tracing } = await openTo(collector, { OTEL_EXPORTER_OTLP_TIMEOUT: '100' });
    collector.behaviour = behaviour;
    await exportOne(tracing, collector);
    tracing.start({ name: 'later' }).end();
    await vi.waitUntil(() => collector.requests >= 2, EVENTUALLY);
    collector.behaviour = 'take';
    tracing.start({ name: 'last' }).end();
    await collector.span(({ name }) => name === 'last');
  });

  it('and answers nonsense has the spans', async () => {
    const collector = await startFakeCollector();
    const { tracing, lines } = await openTo(collector);
    collector.behaviour = 'nonsense';
    await exportOne(tracing, collector);
    await exportOne(tracing, collector);
    expect(collector.spans).toHaveLength(2);
    expect(lines).toEqual([]);
  });

  it.each(['refuse', 'hang'] as const)('and may %s delays a shutdown by at most 2 s', async (behaviour) => {
    const collector = await startFakeCollector();
    const { tracing } = await openTo(collector, { OTEL_BSP_SCHEDULE_DELAY: '60000' });
    collector.behaviour = behaviour;
    // More than the queue of 2,048 spans takes.
    for (let n = 0; n < 3_000; n += 1) tracing.start({ name: 'work' }).end();
    const began = performance.now();
    await tracing.close();
    expect(performance.now() - began).toBeLessThan(3_000);
  });
});

test('a shutdown exports what is left', async () => {
  const collector = await startFakeCollector();
  const { tracing } = await openTo(collector, { OTEL_BSP_SCHEDULE_DELAY: '60000' });
  // One batch is under way and four wait.
  for (let n = 0; n < 2_500; n += 1) tracing.start({ name: 'work' }).end();
  await tracing.close();
  expect(collector.spans).toHaveLength(2_500);
});
