import { expect, it, vi } from 'vitest';
import { DELIVERY_QUEUES } from '../../src/listeners/delivery-queues.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, allArrive, castingPlatform, castMany } from './game-server.ts';

it('records in the timeline that the relay found a vote whose job was lost', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  const lost = await alpha.cast('Steve');
  await platform.producer.settle();
  await platform.queues['test-listeners'].obliterate({ force: true });
  await startWorker(platform.config);
  await allArrive(alpha, [lost]);
  expect((await alpha.delivery(lost)).attempts).toMatchObject([{ wokenBy: 'cast', relayed: true }]);
});

it('works in spite of a deduplication key in Redis for a job that is gone', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  await platform.producer.settle();
  await platform.queues['test-listeners'].obliterate({ force: true });
  const listener = await platform.listeners.findOne({ serverId: alpha.serverId });
  const key = platform.queues['test-listeners'].toKey(`de:${listener?._id.toHexString()}`);
  await platform.producerRedis.set(key, '12345');
  await startWorker(platform.config);
  await allArrive(alpha, [await alpha.cast('Steve')]);
});

it('drains a backlog whose move to its queue was lost with Redis', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  const backlogs = platform.queues['drain-backlogs'];
  await backlogs.pause();
  const votes = await castMany(alpha, 110);
  await startWorker(platform.config);
  await vi.waitUntil(async () => (await backlogs.getWaitingCount()) === 1, EVENTUALLY);
  expect(await alpha.count('waiting')).toBeGreaterThan(100);
  for (const queue of DELIVERY_QUEUES) await platform.queues[queue].obliterate({ force: true });
  await allArrive(alpha, votes);
});
