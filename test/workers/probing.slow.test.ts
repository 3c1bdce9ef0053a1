import { expect, it, vi } from 'vitest';
import { SECOND } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { TAKE_ROUND_MS } from '../../workers/build-scheduler.ts';
import { listServer, startGameServer } from '../probing/probing-bench.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testDeps } from '../support/test-deps.ts';
import { startScheduler, startWorker } from '../support/workers.ts';

const LOOPBACK = { ALLOWED_PRIVATE_RANGES: '127.0.0.0/8', LEASE_MS: '4000', LISTENER_TIMEOUT_MS: '300' };

/** Waits until the server has the status, and returns the state of its probes. */
function status({ servers }: AppDeps, serverId: unknown, wanted: string) {
  return vi.waitFor(async () => {
    const server = await servers.findOne({ _id: serverId as never });
    expect(server?.probe.status).toBe(wanted);
    return server?.probe;
  }, EVENTUALLY);
}

it('probes a new server within ten seconds', async () => {
  const deps = await testDeps(LOOPBACK);
  const far = await startGameServer();
  const serverId = await listServer(deps, far.port);
  // The server is due at once, and each round takes the servers that are due.
  const { probe } = (await deps.servers.findOne({ _id: serverId })) ?? {};
  expect(probe?.nextAt.getTime()).toBeLessThanOrEqual(Date.now());
  expect(TAKE_ROUND_MS).toBeLessThan(10 * SECOND);
  const [worker] = await Promise.all([startWorker(deps.config), startScheduler(deps.config)]);
  await status(deps, serverId, 'online');
  const { address } = await worker.waitForEvent('process.endpoints');
  expect(await (await fetch(`${address}/metrics`)).text()).toContain(
    'tallyport_probes_total{outcome="answered"} 1\n',
  );
  const jobs = await deps.queues['probe-servers'].getJobs(['completed', 'active']);
  expect(jobs.map(({ name }) => name)).toEqual(['Probe: alpha-craft']);
});

it('probes every server once, with two schedulers and two workers', async () => {
  const deps = await testDeps(LOOPBACK);
  const far = await startGameServer();
  for (let i = 0; i < 40; i += 1) await listServer(deps, far.port);
  await Promise.all([
    ...[1, 2].map(() => startWorker(deps.config)),
    ...[1, 2].map(() => startScheduler(deps.config)),
  ]);
  await vi.waitFor(async () => {
    expect(await deps.servers.countDocuments({ 'probe.checkedAt': { $ne: null } })).toBe(40);
  }, EVENTUALLY);
  // On a busy machine a server may answer late. Then it is queried twice within its job, or its check fails.
  expect(await deps.servers.countDocuments({ 'probe.status': 'online' })).toBeGreaterThan(0);
  const jobs = await deps.queues['probe-servers'].getJobs(['completed', 'active', 'waiting']);
  expect(jobs).toHaveLength(40);
});

it('gives a probe back when it stops, and counts no failure', async () => {
  const deps = await testDeps(LOOPBACK);
  const far = await startGameServer();
  far.manner = { silent: true };
  const serverId = await listServer(deps, far.port);
  const [first] = await Promise.all([startWorker(deps.config), startScheduler(deps.config)]);
  await vi.waitFor(() => expect(far.asked).toBe(1), EVENTUALLY);
  await first.stop();
  // If it had waited for the answer, there would be a failed check.
  const { probe } = (await deps.servers.findOne({ _id: serverId })) ?? {};
  expect(probe).toMatchObject({ checkedAt: null, failures: 0, claim: expect.anything() });
  far.manner = {};
  await startWorker(deps.config);
  expect(await status(deps, serverId, 'online')).toMatchObject({ failures: 0 });
});

it('does not let one unresponsive server delay the others', async () => {
  const deps = await testDeps({ ...LOOPBACK, PROBE_CONCURRENCY: '4' });
  const [silent, far] = [await startGameServer(), await startGameServer()];
  silent.manner = { silent: true };
  for (let i = 0; i < 3; i += 1) await listServer(deps, silent.port);
  for (let i = 0; i < 30; i += 1) await listServer(deps, far.port);
  await Promise.all([startWorker(deps.config), startScheduler(deps.config)]);
  await vi.waitFor(() => expect(silent.asked).toBe(3), EVENTUALLY);
  await vi.waitFor(async () => {
    expect(await deps.servers.countDocuments({ 'probe.status': 'online' })).toBe(30);
  }, EVENTUALLY);
  expect(await deps.servers.countDocuments({ 'probe.checkedAt': { $ne: null } })).toBe(30);
});

it('queries no server with PROBES=off', async () => {
  const deps = await testDeps({ ...LOOPBACK, PROBES: 'off' });
  const far = await startGameServer();
  await listServer(deps, far.port);
  const scheduler = await startScheduler(deps.config);
  await scheduler.waitForEvent('schedule.enqueued');
  await scheduler.stop();
  expect(await deps.queues['probe-servers'].getJobCounts()).toMatchObject({ waiting: 0, active: 0 });
  expect(await deps.servers.countDocuments({ 'probe.claim': { $ne: null } })).toBe(0);
});

it('does not start with a canary of an unknown game', async () => {
  const deps = await testDeps({ CANARY_ADDRESSES: 'minecrafft@example.org:25565' });
  await expect(startWorker(deps.config)).rejects.toThrow(/CANARY_ADDRESSES: There is no game “minecrafft”/);
});
