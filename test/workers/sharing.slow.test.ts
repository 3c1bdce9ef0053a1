import { ObjectId, UUID } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { relayDueWork } from '../../src/delivery/relay.ts';
import type { Platform } from '../../src/process/app-deps.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startWorker } from '../support/workers.ts';
import {
  addGameServer,
  castingPlatform,
  castMany,
  type GameServer,
  madeBy,
  mostAtOnce,
  SHORT_WAITS,
} from './game-server.ts';

/** Two workers on one platform, started at the same time. */
async function twoWorkers(platform: Platform, env: Record<string, string> = {}) {
  return Promise.all([startWorker(platform.config, { env }), startWorker(platform.config, { env })]);
}

/**
 * Adds jobs for a listener until `done`, without deduplication: as when an operator retries
 * old jobs, or Redis has lost its data. Then only MongoDB enforces the rules.
 */
async function nudgeUntil(platform: Platform, { serverId }: GameServer, done: () => Promise<boolean>) {
  const listener = await platform.listeners.findOne({ serverId });
  const payload = { serverId: serverId.toHexString(), listenerId: listener?._id.toHexString() };
  const queue = platform.queues['forward-votes'];
  await vi.waitUntil(async () => {
    await Promise.all([1, 2, 3, 4].map(() => queue.add('Again', payload, { removeOnComplete: true })));
    return done();
  }, EVENTUALLY);
}

function attemptsOf(platform: Platform, { serverId }: GameServer) {
  return platform.votes
    .aggregate([{ $match: { serverId } }, { $unwind: '$delivery.attempts' }])
    .map((vote) => vote.delivery.attempts)
    .toArray();
}

it('delivers a vote within seconds of its cast', async () => {
  // The relay would be too late: the job that the cast adds leads to the delivery.
  const platform = await castingPlatform({ RELAY_INTERVAL_MS: '60000' });
  const alpha = await addGameServer(platform);
  await startWorker(platform.config);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.votes.length === 1, EVENTUALLY);
  expect(alpha.listener.votes[0]).toMatchObject({ username: 'Steve', uuid: vote._id.toString() });
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);
});

it('lets two workers share the listeners', async () => {
  const platform = await castingPlatform();
  const workers = await twoWorkers(platform, { WORKER_CONCURRENCY: '1', TEST_CONCURRENCY: '1' });
  const servers = [
    await addGameServer(platform, { name: 'Alpha' }),
    await addGameServer(platform, { name: 'Beta' }),
  ];
  for (const { listener } of servers) listener.stall();
  await Promise.all(servers.map((server) => server.cast('Steve')));
  // A worker with one job at a time would send only one of them.
  await vi.waitUntil(() => servers.every(({ listener }) => listener.held === 1), {
    ...EVENTUALLY,
    interval: 5,
  });
  for (const { listener } of servers) listener.release();
  for (const server of servers) {
    await vi.waitUntil(async () => (await server.count('delivered')) === 1, EVENTUALLY);
  }
  const attempts = (await Promise.all(servers.map((server) => attemptsOf(platform, server)))).flat();
  for (const worker of workers) expect(attempts.some((attempt) => madeBy(attempt, worker))).toBe(true);
});

it('keeps the queue order and four concurrent votes for a listener, whichever worker sends', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  await twoWorkers(platform);
  alpha.listener.behaviour = { answerDelayMs: 100 };
  const votes = await castMany(alpha, 40);
  await nudgeUntil(platform, alpha, async () => (await alpha.count('delivered')) === votes.length);

  const attempts = await attemptsOf(platform, alpha);
  expect(attempts).toHaveLength(votes.length);
  expect(mostAtOnce(attempts)).toBe(4);
  const started = await platform.votes
    .find({ serverId: alpha.serverId })
    .sort({ 'delivery.attempts.at': 1, 'delivery.attempts.id': 1, 'delivery.queuedAt': 1, _id: 1 })
    .toArray();
  // Votes of the same millisecond go out in the order of their ids, whichever was cast first.
  const queued = votes.toSorted(
    (a, b) => a.votedAt.getTime() - b.votedAt.getTime() || (a._id.toString() < b._id.toString() ? -1 : 1),
  );
  expect(started.map(({ username }) => username)).toEqual(queued.map(({ username }) => username));
});

it('tests an unreachable listener with a single vote at a time over all workers', async () => {
  const platform = await castingPlatform(SHORT_WAITS);
  const alpha = await addGameServer(platform);
  alpha.listener.behaviour = { onConnect: 'silence' };
  await castMany(alpha, 8);
  await twoWorkers(platform);
  const tests = async () => (await attemptsOf(platform, alpha)).filter(({ test, code }) => test && code);
  await nudgeUntil(platform, alpha, async () => (await tests()).length >= 4);
  expect(mostAtOnce(await tests())).toBe(1);

  alpha.listener.behaviour = {};
  await vi.waitUntil(async () => (await alpha.count('delivered')) === 8, EVENTUALLY);
  expect(alpha.listener.votes).toHaveLength(8);
});

it('adds one job for each of hundreds of listeners, also with several relays at the same time', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  const vote = await alpha.cast('Steve');
  const server = await platform.servers.findOne({ _id: alpha.serverId });
  const listener = await platform.listeners.findOne({ serverId: alpha.serverId });
  if (!server || !listener) throw new Error('nothing to copy');
  // More servers than a relay processes in one step.
  const ids = Array.from({ length: 600 }, () => new ObjectId());
  const copies = ids.map((_id, n) => ({ ...server, _id, slug: `copy-${n}`, slugs: [`copy-${n}`] }));
  await platform.servers.insertMany(copies);
  await platform.listeners.insertMany(
    ids.map((serverId) => ({ ...listener, _id: new ObjectId(), serverId })),
  );
  await platform.votes.insertMany(ids.map((serverId) => ({ ...vote, _id: new UUID(), serverId })));
  await platform.producer.settle();
  await platform.queues['test-listeners'].obliterate({ force: true });

  const rounds = await Promise.all([relayDueWork(platform), relayDueWork(platform)]);
  expect(rounds).toEqual(rounds.map(() => ({ woken: 601, expired: 0, released: 0 })));
  const jobs = await platform.queues['test-listeners'].getJobs(['waiting', 'delayed', 'active']);
  expect(new Set(jobs.map(({ data }) => data.serverId)).size).toBe(601);
  expect(jobs).toHaveLength(601);
});
