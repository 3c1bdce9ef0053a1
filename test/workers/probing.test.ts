import { expect, it, onTestFinished, vi } from 'vitest';
import { SECOND } from '../../src/clock.ts';
import type { Platform } from '../../src/platform.ts';
import { removeServer } from '../../src/servers/listing.ts';
import { listServer, startGameServer } from '../probing/probing-bench.ts';
import { PATIENT } from '../support/patient.ts';
import { startRedis } from '../support/services.ts';
import { testPlatform } from '../support/test-platform.ts';
import { startScheduler, startWorker } from '../support/worker-process.ts';

const LOOPBACK = { ALLOWED_PRIVATE_RANGES: '127.0.0.0/8', LEASE_MS: '4000', LISTENER_TIMEOUT_MS: '300' };

/** Waits until the server has the status, and gives its probe state. */
function status({ servers }: Platform, serverId: unknown, wanted: string) {
  return vi.waitFor(async () => {
    const server = await servers.findOne({ _id: serverId as never });
    expect(server?.probe.status).toBe(wanted);
    return server?.probe;
  }, PATIENT);
}

it('probes a new server within ten seconds', async () => {
  const platform = await testPlatform(LOOPBACK);
  await Promise.all([startWorker(platform.config), startScheduler(platform.config)]);
  const far = await startGameServer();
  const listed = performance.now();
  const serverId = await listServer(platform, far.port);
  await status(platform, serverId, 'online');
  expect(performance.now() - listed).toBeLessThan(10 * SECOND);
  const jobs = await platform.queues['probe-servers'].getJobs(['completed', 'active']);
  expect(jobs.map(({ name }) => name)).toEqual(['Probe: alpha-craft']);
});

it('probes every server once, with two schedulers and two workers', async () => {
  const platform = await testPlatform(LOOPBACK);
  const far = await startGameServer();
  for (let i = 0; i < 40; i += 1) await listServer(platform, far.port);
  await Promise.all([
    ...[1, 2].map(() => startWorker(platform.config)),
    ...[1, 2].map(() => startScheduler(platform.config)),
  ]);
  await vi.waitFor(async () => {
    expect(await platform.servers.countDocuments({ 'probe.status': 'online' })).toBe(40);
  }, PATIENT);
  await vi.waitFor(async () => expect(await platform.statusSamples.countDocuments({})).toBe(40), PATIENT);
  expect(far.asked).toBe(40);
});

it('lets another worker finish the probe of one that was killed in the middle, counted once', async () => {
  const platform = await testPlatform(LOOPBACK);
  const far = await startGameServer();
  far.manner = { silent: true };
  const serverId = await listServer(platform, far.port);
  const [killed] = await Promise.all([startWorker(platform.config), startScheduler(platform.config)]);
  await vi.waitFor(() => expect(far.asked).toBe(1), PATIENT);
  await killed.kill();
  far.manner = {};
  await startWorker(platform.config);
  await status(platform, serverId, 'online');
  await vi.waitFor(async () => {
    const samples = await platform.statusSamples.find({ serverId }).toArray();
    expect(samples.map(({ status }) => status)).toEqual(['online']);
  }, PATIENT);
});

it('hands a probe over when it stops, and calls nothing failed', async () => {
  const platform = await testPlatform(LOOPBACK);
  const far = await startGameServer();
  far.manner = { silent: true };
  const serverId = await listServer(platform, far.port);
  const [first] = await Promise.all([startWorker(platform.config), startScheduler(platform.config)]);
  await vi.waitFor(() => expect(far.asked).toBe(1), PATIENT);
  expect(await first.stop()).toMatchObject({ code: 0, afterMs: expect.toSatisfy((ms) => ms < 4 * SECOND) });
  far.manner = {};
  await startWorker(platform.config);
  expect(await status(platform, serverId, 'online')).toMatchObject({ failures: 0 });
});

it('does not let one silent server hold up the others', async () => {
  const platform = await testPlatform({ ...LOOPBACK, PROBE_CONCURRENCY: '4' });
  const [silent, far] = [await startGameServer(), await startGameServer()];
  silent.manner = { silent: true };
  for (let i = 0; i < 3; i += 1) await listServer(platform, silent.port);
  for (let i = 0; i < 30; i += 1) await listServer(platform, far.port);
  await Promise.all([startWorker(platform.config), startScheduler(platform.config)]);
  await vi.waitFor(() => expect(silent.asked).toBe(3), PATIENT);
  await vi.waitFor(async () => {
    expect(await platform.servers.countDocuments({ 'probe.status': 'online' })).toBe(30);
  }, PATIENT);
  expect(await platform.servers.countDocuments({ 'probe.checkedAt': { $ne: null } })).toBe(30);
});

it('goes on with probes after Redis was away, and never asks a removed server', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const platform = await testPlatform({ ...LOOPBACK, REDIS_URL: redis.url });
  const [worker, scheduler] = await Promise.all([
    startWorker(platform.config),
    startScheduler(platform.config),
  ]);
  await redis.kill();
  await worker.waitForEvent('redis.away');
  await scheduler.waitForEvent('redis.away');
  const [far, gone] = [await startGameServer(), await startGameServer()];
  const serverId = await listServer(platform, far.port);
  await removeServer(platform, await listServer(platform, gone.port), 'test');
  await redis.restart();
  await status(platform, serverId, 'online');
  expect(gone.asked).toBe(0);
});

it('asks nobody with PROBES=off', async () => {
  const platform = await testPlatform({ ...LOOPBACK, PROBES: 'off' });
  const far = await startGameServer();
  await listServer(platform, far.port);
  const scheduler = await startScheduler(platform.config);
  await scheduler.waitForEvent('schedule.enqueued');
  await scheduler.stop();
  expect(await platform.queues['probe-servers'].getJobCounts()).toMatchObject({ waiting: 0, active: 0 });
  expect(await platform.servers.countDocuments({ 'probe.claim': { $ne: null } })).toBe(0);
});

it('does not start with a canary of an unknown game', async () => {
  const platform = await testPlatform({ CANARY_ADDRESSES: 'minecrafft@example.org:25565' });
  await expect(startWorker(platform.config)).rejects.toThrow(
    /CANARY_ADDRESSES: There is no game «minecrafft»/,
  );
});
