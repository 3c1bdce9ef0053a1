import { ObjectId, UUID } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { sweepDueWork } from '../../src/delivery/sweep.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startWorker } from '../support/workers.ts';
import {
  addGameServer,
  castingDeps,
  castMany,
  type GameServer,
  madeBy,
  mostAtOnce,
  SHORT_WAITS,
} from './game-server.ts';

/** Two workers of one process, started at the same time. */
async function twoWorkers(deps: AppDeps, env: Record<string, string> = {}) {
  return Promise.all([startWorker(deps.config, { env }), startWorker(deps.config, { env })]);
}

/**
 * Adds jobs for a listener until `done`, without deduplication, as when an operator retries old jobs or Redis has lost
 * its data. Then only MongoDB enforces the rules.
 */
async function nudgeUntil(deps: AppDeps, { serverId }: GameServer, done: () => Promise<boolean>) {
  const listener = await deps.listeners.findOne({ serverId });
  const payload = { serverId: serverId.toHexString(), listenerId: listener?._id.toHexString() };
  const queue = deps.queues['forward-votes'];
  await vi.waitUntil(async () => {
    await Promise.all([1, 2, 3, 4].map(() => queue.add('Again', payload, { removeOnComplete: true })));
    return done();
  }, EVENTUALLY);
}

function attemptsOf(deps: AppDeps, { serverId }: GameServer) {
  return deps.votes
    .aggregate([{ $match: { serverId } }, { $unwind: '$delivery.attempts' }])
    .map((vote) => vote.delivery.attempts)
    .toArray();
}

it('delivers a vote within seconds of its cast', async () => {
  // The sweep would be too late, so the job that was added with the vote leads to the delivery.
  const deps = await castingDeps({ RELAY_INTERVAL_MS: '60000' });
  const alpha = await addGameServer(deps);
  await startWorker(deps.config);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.votes.length === 1, EVENTUALLY);
  expect(alpha.listener.votes[0]).toMatchObject({ username: 'Steve', uuid: vote._id.toString() });
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);
});

it('lets two workers share the listeners', async () => {
  const deps = await castingDeps();
  const workers = await twoWorkers(deps, { WORKER_CONCURRENCY: '1', TEST_CONCURRENCY: '1' });
  const servers = [await addGameServer(deps, { name: 'Alpha' }), await addGameServer(deps, { name: 'Beta' })];
  for (const { listener } of servers) listener.stall();
  await Promise.all(servers.map((server) => server.cast('Steve')));
  // A worker that runs one job at a time would send only one of them.
  await vi.waitUntil(() => servers.every(({ listener }) => listener.held === 1), {
    ...EVENTUALLY,
    interval: 5,
  });
  for (const { listener } of servers) listener.release();
  for (const server of servers) {
    await vi.waitUntil(async () => (await server.count('delivered')) === 1, EVENTUALLY);
  }
  const attempts = (await Promise.all(servers.map((server) => attemptsOf(deps, server)))).flat();
  for (const worker of workers) expect(attempts.some((attempt) => madeBy(attempt, worker))).toBe(true);
});

it('keeps the queue order and four concurrent votes for a listener, whichever worker sends', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  await twoWorkers(deps);
  alpha.listener.behaviour = { answerDelayMs: 100 };
  const votes = await castMany(alpha, 40);
  await nudgeUntil(deps, alpha, async () => (await alpha.count('delivered')) === votes.length);

  const attempts = await attemptsOf(deps, alpha);
  expect(attempts).toHaveLength(votes.length);
  expect(mostAtOnce(attempts)).toBe(4);
  const started = await deps.votes
    .find({ serverId: alpha.serverId })
    .sort({ 'delivery.attempts.at': 1, 'delivery.attempts.id': 1, 'delivery.queuedAt': 1, _id: 1 })
    .toArray();
  // Votes of the same millisecond go out in the order of their ids, whichever was cast first.
  const queued = votes.toSorted(
    (a, b) => a.votedAt.getTime() - b.votedAt.getTime() || (a._id.toString() < b._id.toString() ? -1 : 1),
  );
  expect(started.map(({ username }) => username)).toEqual(queued.map(({ username }) => username));
});

it('tests an unreachable listener with one vote at a time over all workers', async () => {
  const deps = await castingDeps(SHORT_WAITS);
  const alpha = await addGameServer(deps);
  alpha.listener.behaviour = { onConnect: 'silence' };
  await castMany(alpha, 8);
  await twoWorkers(deps);
  const tests = async () => (await attemptsOf(deps, alpha)).filter(({ test, code }) => test && code);
  await nudgeUntil(deps, alpha, async () => (await tests()).length >= 4);
  expect(mostAtOnce(await tests())).toBe(1);

  alpha.listener.behaviour = {};
  await vi.waitUntil(async () => (await alpha.count('delivered')) === 8, EVENTUALLY);
  expect(alpha.listener.votes).toHaveLength(8);
});

it('adds one job for each of hundreds of listeners, even if several sweeps run at the same time', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const vote = await alpha.cast('Steve');
  const server = await deps.servers.findOne({ _id: alpha.serverId });
  const listener = await deps.listeners.findOne({ serverId: alpha.serverId });
  if (!server || !listener) throw new Error('nothing to copy');
  // More servers than a sweep processes in one step.
  const ids = Array.from({ length: 600 }, () => new ObjectId());
  const copies = ids.map((_id, n) => ({ ...server, _id, slug: `copy-${n}`, slugs: [`copy-${n}`] }));
  await deps.servers.insertMany(copies);
  await deps.listeners.insertMany(ids.map((serverId) => ({ ...listener, _id: new ObjectId(), serverId })));
  await deps.votes.insertMany(ids.map((serverId) => ({ ...vote, _id: new UUID(), serverId })));
  await deps.producer.settle();
  await deps.queues['test-listeners'].obliterate({ force: true });

  const rounds = await Promise.all([sweepDueWork(deps), sweepDueWork(deps)]);
  expect(rounds).toEqual(rounds.map(() => ({ woken: 601, expired: 0, removed: 0 })));
  const jobs = await deps.queues['test-listeners'].getJobs(['waiting', 'delayed', 'active']);
  expect(new Set(jobs.map(({ data }) => data.serverId)).size).toBe(601);
  expect(jobs).toHaveLength(601);
});
