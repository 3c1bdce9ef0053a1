import { Webhook } from 'standardwebhooks';
import { expect, it, vi } from 'vitest';
import { rotateSecret, setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, allArrive, castingDeps, type GameServer, noLeases } from './game-server.ts';

/** A server whose listener has taken a vote, and whose lease the worker keeps. */
async function keptServer(deps: AppDeps): Promise<GameServer> {
  const alpha = await addGameServer(deps);
  await allArrive(alpha, [await alpha.cast('First')]);
  // The first vote was sent by a job for new listeners, which keeps no lease.
  const second = await alpha.cast('Second');
  await arrived(alpha, second);
  await vi.waitUntil(async () => (await leaseOf(deps, alpha))?.listens, EVENTUALLY);
  await vi.waitUntil(async () => (await deps.queues['forward-votes'].getActiveCount()) === 0, EVENTUALLY);
  return alpha;
}

const leaseOf = async ({ listeners }: AppDeps, { serverId }: GameServer) =>
  (await listeners.findOne({ serverId }))?.lease;

const arrived = (server: GameServer, vote: Awaited<ReturnType<GameServer['cast']>>) =>
  vi.waitUntil(async () => (await server.delivery(vote)).state === 'delivered', EVENTUALLY);

const jobsOf = async ({ queues }: AppDeps) => {
  const { completed = 0, waiting = 0, active = 0 } = await queues['forward-votes'].getJobCounts();
  return completed + waiting + active;
};

it('the next vote of a listener needs neither a job nor a new lease', async () => {
  const deps = await castingDeps();
  await startWorker(deps.config);
  const alpha = await keptServer(deps);
  const [lease, jobs] = [await leaseOf(deps, alpha), await jobsOf(deps)];
  for (const name of ['Steve', 'Alex']) await arrived(alpha, await alpha.cast(name));
  expect(await leaseOf(deps, alpha)).toEqual(lease);
  expect(await jobsOf(deps)).toBe(jobs);
  expect(alpha.listener.votes).toHaveLength(4);
});

it('a vote that Redis did not announce is found within a second, by the process that keeps the lease', async () => {
  const deps = await castingDeps({ RELAY_INTERVAL_MS: '60000' });
  await startWorker(deps.config);
  const alpha = await keptServer(deps);
  const jobs = await jobsOf(deps);
  vi.spyOn(deps.producer, 'announceDueVotes').mockResolvedValue(false);
  await arrived(alpha, await alpha.cast('Steve'));
  expect(await jobsOf(deps)).toBe(jobs);
});

it('the worker notices changed settings, and releases the lease', async () => {
  const deps = await castingDeps();
  await startWorker(deps.config);
  const alpha = await keptServer(deps);
  const { serverId } = alpha;
  await alpha.set({ secret: 'another-token-of-this-test' });
  // The worker has read the new settings: they are another queue's.
  await noLeases(deps);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(async () => (await deps.listeners.findOne({ serverId }))?.pause, EVENTUALLY);
  expect((await alpha.delivery(vote)).attempts.at(-1)?.code).toBe('bad-signature');
  await noLeases(deps);
  const later = await alpha.cast('Alex');
  expect((await alpha.delivery(later)).attempts).toEqual([]);
});

it('from the moment that a rotation returns, every vote is signed with the new secret too', async () => {
  const deps = await castingDeps();
  await startWorker(deps.config);
  const alpha = await keptServer(deps);
  const site = await startFakeHttpListener();
  const { serverId } = alpha;
  const settings = { url: `http://127.0.0.1:${site.port}/votes`, serviceName: 'Tallyport' };
  await setHttpListener(deps, serverId, settings, 'test');
  // The worker reads these settings within a second; then its lease of the earlier listener is over.
  await noLeases(deps);
  for (const name of ['Third', 'Fourth']) await arrived(alpha, await alpha.cast(name));
  await vi.waitUntil(async () => (await leaseOf(deps, alpha))?.listens, EVENTUALLY);
  // A vote that was begun with the old secret, and whose answer takes its time.
  site.answer = (response) => setTimeout(() => response.end(), 300);
  const slow = await alpha.cast('Fifth');
  await vi.waitUntil(() => site.received.length === 3, EVENTUALLY);
  const rotated = await rotateSecret(deps, serverId, 'test');
  expect((await alpha.delivery(slow)).state).toBe('delivered');

  site.answer = (response) => response.end();
  await arrived(alpha, await alpha.cast('Sixth'));
  const { body = '', headers } = site.received.at(-1) ?? {};
  expect(() =>
    new Webhook(rotated?.secret ?? '').verify(body, headers as Record<string, string>),
  ).not.toThrow();
});

it('a worker that stops releases the leases that it keeps', async () => {
  const deps = await castingDeps();
  const worker = await startWorker(deps.config);
  const alpha = await keptServer(deps);
  await worker.stop();
  expect(await leaseOf(deps, alpha)).toBeNull();
});

it('if a lease was released after the process that casts the vote saw it, its last owner adds the job', async () => {
  const deps = await castingDeps({ RELAY_INTERVAL_MS: '60000' });
  await startWorker(deps.config);
  const alpha = await keptServer(deps);
  const { 'forward-votes': queue } = deps.queues;
  await queue.pause();
  await noLeases(deps);
  await queue.resume();
  vi.spyOn(deps.producer, 'add').mockResolvedValue(false);
  const vote = await alpha.cast('Steve');
  await deps.producer.announceDueVotes(alpha.serverId.toHexString());
  await arrived(alpha, vote);
});

it('an announced vote of a listener whose lease a dead worker has adds one job, not a job after each job', async () => {
  const deps = await castingDeps({ RELAY_INTERVAL_MS: '60000' });
  await startWorker(deps.config);
  const alpha = await keptServer(deps);
  const { 'forward-votes': queue } = deps.queues;
  await queue.pause();
  await noLeases(deps);
  await queue.resume();
  const until = new Date(Date.now() + 60_000);
  const lease = { owner: 'a dead worker', until, listens: true };
  await deps.listeners.updateOne({ serverId: alpha.serverId }, { $set: { lease } });
  const jobs = await jobsOf(deps);
  await alpha.cast('Steve');
  await vi.waitUntil(async () => (await leaseOf(deps, alpha))?.called, EVENTUALLY);
  // Each job announces the vote once more. Two seconds after the release, nothing follows any longer.
  const began = performance.now();
  await vi.waitUntil(() => performance.now() - began > 3_000, EVENTUALLY);
  expect((await jobsOf(deps)) - jobs).toBeLessThan(12);
});
