import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Prints the OpenTelemetry packages that a process has loaded: with traces off, then with traces on. */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  const loaded = new Set();
  registerHooks({
    load(url, context, next) {
      const [, name] = /node_modules\\/@opentelemetry\\/([^/]+)/.exec(url) ?? [];
      if (name) loaded.add(name);
      return next(url, context);
    },
  });
  const { loadConfig } = await import('./src/platform/config.ts');
  const { openTracing } = await import('./src/platform/tracing/open-tracing.ts');
  await import('./src/app.ts');
  await import('./workers/build-workers.ts');
  const names = { process: 'web', processId: 'x', log: { warn() {}, info() {} } };
  for (const env of [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }]) {
    await openTracing(loadConfig(env), names);
    console.log([...loaded].join());
  }
`;

test("a process loads OpenTelemetry's SDK only if traces are on", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SCRIPT]);
  const [off = '', on = ''] = stdout.split('\n');
  expect(off).not.toMatch(/sdk-trace|exporter/);
  expect(on.split(',')).toEqual(expect.arrayContaining(['sdk-trace', 'exporter-trace-otlp-proto']));
});
