import { expect, it, vi } from 'vitest';
import { DELIVERY_QUEUES } from '../../src/listeners/delivery-queues.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, allArrive, castingDeps, castMany } from './game-server.ts';

it('records in the timeline that the sweep found a vote whose job was lost', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const lost = await alpha.cast('Steve');
  await deps.producer.settle();
  await deps.queues['test-listeners'].obliterate({ force: true });
  await startWorker(deps.config);
  await allArrive(alpha, [lost]);
  expect((await alpha.delivery(lost)).attempts).toMatchObject([{ wokenBy: 'cast', relayed: true }]);
});

it('delivers votes even if Redis has the deduplication key of a job that no longer exists', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  await deps.producer.settle();
  await deps.queues['test-listeners'].obliterate({ force: true });
  const listener = await deps.listeners.findOne({ serverId: alpha.serverId });
  const key = deps.queues['test-listeners'].toKey(`de:${listener?._id.toHexString()}`);
  await deps.producerRedis.set(key, '12345');
  await startWorker(deps.config);
  await allArrive(alpha, [await alpha.cast('Steve')]);
});

it('drains a backlog if its move to another queue was lost with Redis', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const backlogs = deps.queues['drain-backlogs'];
  await backlogs.pause();
  const votes = await castMany(alpha, 110);
  await startWorker(deps.config);
  await vi.waitUntil(async () => (await backlogs.getWaitingCount()) === 1, EVENTUALLY);
  expect(await alpha.count('waiting')).toBeGreaterThan(100);
  for (const queue of DELIVERY_QUEUES) await deps.queues[queue].obliterate({ force: true });
  await allArrive(alpha, votes);
});
