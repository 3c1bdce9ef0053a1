import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { EVENTUALLY } from '../support/eventually.ts';
import { startFakeListeners } from '../support/fake-listeners.ts';
import { listServersAt } from '../support/servers.ts';
import { insertWaitingVotes } from '../support/votes.ts';
import { spawnWorker } from '../support/worker-process.ts';
import { addGameServer, castingDeps } from './game-server.ts';

/**
 * As many listeners for each slot of `test-listeners` as 10,000 listeners are for its 256 slots; bench/delivery/herd.ts
 * has all 10,000.
 */
const SILENT = 320;
const CONCURRENCY = 16;
const TEST_CONCURRENCY = 8;
const WAITING_EACH = 4;
const PORTS = 10;

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

it('delivers promptly while many listeners never answer, with few sockets and little memory', async () => {
  const deps = await castingDeps({
    WORKER_CONCURRENCY: String(CONCURRENCY),
    TEST_CONCURRENCY: String(TEST_CONCURRENCY),
    LISTENER_TIMEOUT_MS: '1000',
    LEASE_MS: '30000',
    BREAKER_SCHEDULE: '5s,30s,120s',
  });
  const fakes = await startFakeListeners({
    token: 'a-token-of-this-test',
    silent: { ports: PORTS, dripEvery: 10 },
  });
  onTestFinished(() => fakes.close());
  const worker = await spawnWorker(deps.config, { args: ['forward-votes'] });
  const known = [await addGameServer(deps, { name: 'Alpha' }), await addGameServer(deps, { name: 'Beta' })];
  for (const server of known) {
    await server.cast('first');
    await vi.waitUntil(async () => (await server.count('delivered')) === 1, EVENTUALLY);
  }
  // If a listener answers, it counts as working. Its state is stored when its drain has ended.
  await vi.waitUntil(
    async () => (await deps.listeners.countDocuments({ lastDeliveredAt: { $ne: null }, lease: null })) === 2,
    EVENTUALLY,
  );
  const before = await residentMb(worker.pid);

  const ports = Array.from({ length: SILENT }, (_, i) => fakes.silentPorts[i % PORTS] ?? 0);
  const herd = await listServersAt(deps, ports, 'a-token-of-this-test');
  await insertWaitingVotes(deps, herd, WAITING_EACH);
  const untried = () => deps.listeners.countDocuments({ serverId: { $in: herd }, 'breaker.failures': 0 });
  await vi.waitUntil(async () => (await fakes.report()).silent.total > TEST_CONCURRENCY, EVENTUALLY);

  for (let n = 0; n < 5; n += 1) {
    for (const server of known) {
      const vote = await server.cast(`player ${n}`);
      await vi.waitUntil(async () => (await server.delivery(vote)).state === 'delivered', EVENTUALLY);
    }
  }
  expect(await untried()).toBeGreaterThan(SILENT / 4);
  for (const { listener } of known) expect(listener.votes).toHaveLength(6);
  const { peak } = (await fakes.report()).silent;
  expect(peak).toBeGreaterThan(0);
  expect(peak).toBeLessThanOrEqual(TEST_CONCURRENCY);
  expect((await residentMb(worker.pid)) - before).toBeLessThan(200);
});
