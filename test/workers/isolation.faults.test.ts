import { expect, it, vi } from 'vitest';
import { QUEUES } from '../../src/platform/queues.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, allArrive, castingDeps, castMany, mostAtOnce, noLeases } from './game-server.ts';

it('delivers at once to a listener that answers, however many others hang in every slot for tests', async () => {
  const deps = await castingDeps({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '34000' });
  const alpha = await addGameServer(deps, { name: 'Alpha' });
  await startWorker(deps.config, { env: { WORKER_CONCURRENCY: '1', TEST_CONCURRENCY: '2' } });
  await allArrive(alpha, [await alpha.cast('First')]);
  const silent = await Promise.all(['B', 'C', 'D', 'E', 'F'].map((name) => addGameServer(deps, { name })));
  for (const { listener } of silent) listener.behaviour = { onConnect: 'silence' };
  await Promise.all(silent.map((server) => castMany(server, 4)));
  const connections = () => silent.reduce((sum, { listener }) => sum + listener.connections, 0);
  await vi.waitUntil(() => connections() >= 2, EVENTUALLY);
  const tried = connections();
  for (const name of ['Steve', 'Alex', 'Kai']) {
    const vote = await alpha.cast(name);
    await vi.waitUntil(async () => (await alpha.delivery(vote)).state === 'delivered', EVENTUALLY);
  }
  // None of their attempts has ended, so the delivery did not wait for them.
  expect(connections()).toBe(tried);
});

it('sends one vote at a time to a listener under test', async () => {
  const deps = await castingDeps({ LISTENER_TIMEOUT_MS: '200' });
  const alpha = await addGameServer(deps);
  alpha.listener.behaviour = { onConnect: 'silence' };
  await castMany(alpha, 6);
  await startWorker(deps.config);
  const attempts = () =>
    deps.votes
      .aggregate([{ $match: { serverId: alpha.serverId } }, { $unwind: '$delivery.attempts' }])
      .map((vote) => vote.delivery.attempts)
      .toArray();
  await vi.waitUntil(async () => (await attempts()).length >= 5, EVENTUALLY);
  expect(mostAtOnce((await attempts()).filter(({ code }) => code))).toBe(1);
});

it('forwards fresh votes while the backlog of another listener drains', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps, { name: 'Alpha' });
  const beta = await addGameServer(deps, { name: 'Beta' });
  const env = { WORKER_CONCURRENCY: '1', TEST_CONCURRENCY: '1', BACKLOG_CONCURRENCY: '1' };
  await startWorker(deps.config, { env });
  for (const server of [alpha, beta]) await allArrive(server, [await server.cast('First')]);
  const forward = deps.queues['forward-votes'];
  await forward.pause();
  // If a job were still running, or a lease were kept, the votes would be delivered while they are cast.
  await vi.waitUntil(async () => (await forward.getActiveCount()) === 0, EVENTUALLY);
  await noLeases(deps);
  await castMany(beta, 150);
  beta.listener.behaviour = { answerDelayMs: 300 };
  await forward.resume();
  const backlogs = deps.queues['drain-backlogs'];
  await vi.waitUntil(async () => (await backlogs.getActiveCount()) === 1, EVENTUALLY);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(async () => (await alpha.delivery(vote)).state === 'delivered', EVENTUALLY);
  expect(await beta.count('waiting')).toBeGreaterThan(0);
  beta.listener.behaviour = {};
  await vi.waitUntil(async () => (await beta.count('delivered')) === 151, EVENTUALLY);
  expect(beta.listener.votes).toHaveLength(151);
});

it('forwards the votes of a job that an older version added with a priority', async () => {
  const deps = await castingDeps({ RELAY_INTERVAL_MS: '60000' });
  const alpha = await addGameServer(deps);
  const vote = await alpha.cast('Steve');
  await deps.producer.settle();
  await deps.queues['test-listeners'].obliterate({ force: true });
  const listener = await deps.listeners.findOne({ serverId: alpha.serverId });
  const payload = { serverId: alpha.serverId.toHexString(), listenerId: `${listener?._id}` };
  const id = QUEUES['forward-votes'].key(payload);
  // The first round of the sweep has run and found nothing, so only the job leads to the vote.
  await deps.votes.updateOne(
    { _id: vote._id },
    { $set: { 'delivery.nextAt': new Date(Date.now() + 1_500) } },
  );
  await startWorker(deps.config);
  await deps.queues['forward-votes'].add('Forward votes', payload, {
    priority: 2,
    delay: 3_000,
    deduplication: { id, keepLastIfActive: true },
  });
  await allArrive(alpha, [vote]);
});
