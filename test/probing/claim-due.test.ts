import { ObjectId } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { after, MINUTE, SECOND } from '../../src/clock.ts';
import type { Platform } from '../../src/platform.ts';
import { claimDueServers } from '../../src/probing/claim-due.ts';
import { newProbeState, removeServer } from '../../src/servers/listing.ts';
import { startRedis } from '../support/services.ts';
import { listServer, probingBench } from './probing-bench.ts';

async function jobsOf({ queues }: Platform): Promise<string[]> {
  const jobs = await queues['probe-servers'].getJobs(['waiting', 'active']);
  return jobs.map(({ data }) => data.serverId);
}

/** Lists `count` servers at once. */
async function listMany({ servers, clock }: Platform, model: ObjectId, count: number): Promise<void> {
  const server = await servers.findOne({ _id: model });
  if (!server) throw new Error('not listed');
  const probe = newProbeState(clock.now());
  const many = Array.from({ length: count }, (_, i) => ({
    ...server,
    _id: new ObjectId(),
    slug: `many-${i}`,
    probe,
  }));
  await servers.insertMany(many);
}

it('claims a new server at once, names its job after it, and plans the next probe', async () => {
  const { platform, serverId, server } = await probingBench();
  expect(await claimDueServers(platform)).toBe(1);
  const jobs = await platform.queues['probe-servers'].getJobs(['waiting']);
  expect(jobs).toMatchObject([{ name: 'Probe: alpha-craft', data: { serverId: serverId.toHexString() } }]);
  const { probe } = await server();
  expect(probe.claim).not.toBeNull();
  expect(probe.nextAt.getTime()).toBe(platform.clock.now().getTime() + probe.claimSeconds * SECOND);
  expect(await claimDueServers(platform)).toBe(0);
});

it('leaves alone what is removed, has no game, or is not due', async () => {
  const { platform, serverId } = await probingBench();
  await removeServer(platform, serverId, 'test');
  const noGame = await listServer(platform, 25_565);
  await platform.servers.updateOne({ _id: noGame }, { $set: { game: null } });
  const later = await listServer(platform, 25_565);
  const nextAt = after(platform.clock.now(), MINUTE);
  await platform.servers.updateOne({ _id: later }, { $set: { 'probe.nextAt': nextAt } });
  expect(await claimDueServers(platform)).toBe(0);
});

it('claims nothing with PROBES=off', async () => {
  const { platform } = await probingBench({ PROBES: 'off' });
  expect(await claimDueServers(platform)).toBe(0);
  expect(await jobsOf(platform)).toEqual([]);
});

it('gives every server to one of several schedulers', async () => {
  const { platform, serverId } = await probingBench();
  await listMany(platform, serverId, 299);
  const claimed = await Promise.all([1, 2, 3, 4].map(() => claimDueServers(platform)));
  expect(claimed.reduce((sum, count) => sum + count)).toBe(300);
  const jobs = await jobsOf(platform);
  expect(jobs).toHaveLength(300);
  expect(new Set(jobs).size).toBe(300);
});

it('enqueues 10,000 due servers in bounded steps, and no more than the workers can follow', async () => {
  const { platform, serverId } = await probingBench();
  await listMany(platform, serverId, 9_999);
  const rounds = [];
  for (let round = 0; round < 6; round += 1) rounds.push(await claimDueServers(platform));
  expect(rounds).toEqual([500, 500, 500, 500, 0, 0]);
  const next = await platform.servers
    .find({ 'probe.claim': { $ne: null } })
    .map(({ probe }) => probe.claimSeconds)
    .toArray();
  expect(next.filter((seconds) => seconds < 150).length).toBeGreaterThan(500);
  expect(next.filter((seconds) => seconds > 150).length).toBeGreaterThan(500);
}, 60_000);

it('claims nothing while Redis is away, and gives back what Redis did not take', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const { platform, server } = await probingBench({ REDIS_URL: redis.url });
  const before = (await server()).probe;
  const refusing = { ...platform, producer: { ...platform.producer, addAll: async () => 0 } };
  expect(await claimDueServers(refusing)).toBe(0);
  const { revision: _, ...restored } = (await server()).probe;
  const { revision: __, ...due } = before;
  expect(restored).toEqual(due);
  await redis.kill();
  const { revision } = (await server()).probe;
  expect(await claimDueServers(platform)).toBe(0);
  expect((await server()).probe.revision).toBe(revision);
});

it('reads the index of due probes, whatever else is listed', async () => {
  const { platform, serverId } = await probingBench();
  await listMany(platform, serverId, 500);
  await platform.servers.updateMany({ _id: { $ne: serverId } }, { $set: { game: null } });
  const { executionStats } = await platform.servers
    .find({ removedAt: null, game: { $type: 'string' }, 'probe.nextAt': { $lte: platform.clock.now() } })
    .sort({ 'probe.nextAt': 1 })
    .explain('executionStats');
  expect(executionStats).toMatchObject({ nReturned: 1 });
  expect(executionStats.totalKeysExamined).toBeLessThanOrEqual(3);
  expect(executionStats.totalDocsExamined).toBe(1);
});
