import { expect, it, onTestFinished } from 'vitest';
import type { OnStopSignal } from '../../src/cli/run-cli.ts';
import { mongoCommand, startFaultProxy } from '../support/fault-proxy.ts';
import { openCli, tallyport } from './tallyport.ts';

it.each([
  [
    'import votes -',
    'Interrupted: run the same command again to complete it. Until then, figures may not include everything that was imported.\n',
  ],
  ['server list', ''],
])('“%s” ends with 130 at the first signal, whatever it waits for', async (line, says) => {
  const cli = await openCli();
  onTestFinished(() => cli.close());
  const { server_id } = await cli.addServer('Interrupted');
  const uri = cli.env.MONGODB_URI ?? '';
  const proxy = await startFaultProxy(Number(new URL(uri).port), 'mongodb');
  onTestFinished(() => proxy.close());
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const stalled = proxy.stallNext(mongoCommand('find', 'servers'), () => {
    reached.resolve();
    return released.promise;
  });
  let signals: Parameters<OnStopSignal>[0] | undefined;
  const running = tallyport(line.split(' '), {
    env: { ...cli.env, MONGODB_URI: proxy.through(uri) },
    input: `${JSON.stringify({ server_id, username: 'Steve', voted_at: '2026-01-01T00:00:00Z' })}\n`,
    onStopSignal: (act) => {
      signals = act;
      return () => {
        signals = undefined;
      };
    },
  });
  await reached.promise;
  signals?.first();

  expect(await running).toMatchObject({ code: 130, stdout: '', stderr: says });
  expect(signals).toBeUndefined();
  released.resolve();
  await stalled;
});
