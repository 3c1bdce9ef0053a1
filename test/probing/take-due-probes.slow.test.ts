import { Worker } from 'bullmq';
import { ObjectId } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { after, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { queuePrefix } from '../../src/platform/queues.ts';
import { stateAfter } from '../../src/probing/probe-state.ts';
import { takeDueServers } from '../../src/probing/take-due-probes.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { editServer, newProbeState } from '../../src/servers/listed-servers.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { listServer, probingBench } from './probing-bench.ts';

async function jobsOf({ queues }: AppDeps): Promise<string[]> {
  const jobs = await queues['probe-servers'].getJobs(['waiting', 'active']);
  return jobs.map(({ data }) => data.serverId);
}

/** Lists `count` servers at once. */
async function listMany({ servers, clock }: AppDeps, model: ObjectId, count: number): Promise<void> {
  const server = await servers.findOne({ _id: model });
  if (!server) throw new Error('not listed');
  const probe = newProbeState(clock.now());
  const many = Array.from({ length: count }, (_, i) => ({
    ...server,
    _id: new ObjectId(),
    slug: `many-${i}`,
    slugs: [`many-${i}`],
    probe,
  }));
  await servers.insertMany(many);
}

it('claims a new server at once, names its job after it, and plans the next probe', async () => {
  const { deps, serverId, server } = await probingBench();
  expect(await takeDueServers(deps)).toBe(1);
  const jobs = await deps.queues['probe-servers'].getJobs(['waiting']);
  expect(jobs).toMatchObject([{ name: 'Probe: alpha-craft', data: { serverId: serverId.toHexString() } }]);
  const { probe } = await server();
  expect(probe.claim).not.toBeNull();
  expect(probe.nextAt.getTime()).toBe(deps.clock.now().getTime() + probe.claimSeconds * SECOND);
  expect(await takeDueServers(deps)).toBe(0);
});

it('does not claim servers that are removed, have no game, or are not due', async () => {
  const { deps, serverId } = await probingBench();
  await removeServer(deps, serverId, 'test');
  const noGame = await listServer(deps, 25_565);
  await deps.servers.updateOne({ _id: noGame }, { $set: { game: null } });
  const later = await listServer(deps, 25_565);
  const nextAt = after(deps.clock.now(), MINUTE);
  await deps.servers.updateOne({ _id: later }, { $set: { 'probe.nextAt': nextAt } });
  expect(await takeDueServers(deps)).toBe(0);
});

it('claims nothing with PROBES=off', async () => {
  const { deps } = await probingBench({ PROBES: 'off' });
  expect(await takeDueServers(deps)).toBe(0);
  expect(await jobsOf(deps)).toEqual([]);
});

it('lets only one of several schedulers claim each server', async () => {
  const { deps, serverId } = await probingBench();
  await listMany(deps, serverId, 299);
  const claimed = await Promise.all([1, 2, 3, 4].map(() => takeDueServers(deps)));
  expect(claimed.reduce((sum, count) => sum + count)).toBe(300);
  const jobs = await jobsOf(deps);
  expect(jobs).toHaveLength(300);
  expect(new Set(jobs).size).toBe(300);
});

it('enqueues 10,000 due servers in limited steps, and no more than the workers can process', async () => {
  const { deps, serverId } = await probingBench();
  await listMany(deps, serverId, 9_999);
  const rounds = [];
  for (let round = 0; round < 8; round += 1) rounds.push(await takeDueServers(deps));
  // The last two are new servers, which have reserved room.
  expect(rounds).toEqual([500, 500, 500, 500, 250, 250, 0, 0]);
  const next = await deps.servers
    .find({ 'probe.claim': { $ne: null } })
    .map(({ probe }) => probe.claimSeconds)
    .toArray();
  expect(next.filter((seconds) => seconds < 150).length).toBeGreaterThan(500);
  expect(next.filter((seconds) => seconds > 150).length).toBeGreaterThan(500);
}, 60_000);

it('claims a new server, an edited one and a quick retry although thousands are due for longer', async () => {
  const { deps, serverId, clock, server } = await probingBench();
  await takeDueServers(deps);
  const before = after(clock.now(), -HOUR);
  const claimed = (await server()).probe;
  await listMany(deps, serverId, 4_000);
  const overdue = { ...claimed, nextAt: before, scheduledAt: before };
  await deps.servers.updateMany({ slug: /^many-/ }, { $set: { probe: overdue } });
  const [added, edited, failing] = await Promise.all([1, 2, 3].map(() => listServer(deps, 1)));
  if (!added || !edited || !failing) throw new Error('not listed');
  await deps.servers.updateOne({ _id: edited }, { $set: { probe: claimed } });
  await editServer(deps, edited, { port: 2 }, 'test');
  const failed = stateAfter(claimed, { end: 'failed', byHand: false }, after(clock.now(), -MINUTE));
  await deps.servers.updateOne({ _id: failing }, { $set: { probe: failed.state } });
  const urgent = [added, edited, failing].map((id) => id.toHexString());
  expect(await takeDueServers(deps)).toBe(500);
  expect(await jobsOf(deps)).toEqual(expect.arrayContaining(urgent));

  // Also when the queue is full for other servers.
  for (let round = 0; round < 3; round += 1) await takeDueServers(deps);
  expect(await takeDueServers(deps)).toBe(0);
  const newest = await listServer(deps, 1);
  expect(await takeDueServers(deps)).toBe(1);
  // A worker takes it first, although 2,000 jobs have waited for longer.
  const { producerRedis: connection, config } = deps;
  const prefix = queuePrefix(config, 'probe-servers');
  const worker = new Worker('probe-servers', null, { connection, prefix });
  onTestFinished(() => worker.close());
  const next = await worker.getNextJob('test');
  expect(next).toMatchObject({ data: { serverId: newest.toHexString() } });
}, 60_000);

it.each([
  ['due', {}],
  ['urgent', { 'probe.urgent': true }],
])('reads the index of %s probes, whatever else is listed', async (name, urgent) => {
  const { deps, serverId } = await probingBench();
  await listMany(deps, serverId, 500);
  const others = { game: null, 'probe.urgent': name === 'due' };
  await deps.servers.updateMany({ _id: { $ne: serverId } }, { $set: others });
  if (name === 'urgent') await deps.servers.updateMany({}, { $set: { game: 'minecraft' } });
  const now = deps.clock.now();
  const { executionStats } = await deps.servers
    .find({ removedAt: null, game: { $type: 'string' }, 'probe.nextAt': { $lte: now }, ...urgent })
    .sort({ 'probe.nextAt': 1 })
    .explain('executionStats');
  expect(executionStats).toMatchObject({ nReturned: 1 });
  expect(executionStats.totalKeysExamined).toBeLessThanOrEqual(3);
  expect(executionStats.totalDocsExamined).toBe(1);
});
