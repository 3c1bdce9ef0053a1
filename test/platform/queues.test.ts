import { ObjectId } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { testDeps } from '../support/test-deps.ts';

const listener = () => ({ serverId: `${new ObjectId()}`, listenerId: `${new ObjectId()}` });

it('many concurrent adds of one job cost Redis one job and few commands', async () => {
  const { producer, producerRedis, queues } = await testDeps();
  const payload = listener();
  const sent = vi.spyOn(producerRedis, 'sendCommand');
  const taken = await Promise.all(Array.from({ length: 100 }, () => producer.add('forward-votes', payload)));
  expect(taken).toEqual(Array(100).fill(true));
  expect(await queues['forward-votes'].getWaitingCount()).toBe(1);
  // Separate adds would need over a hundred commands.
  expect(sent.mock.calls.length).toBeLessThan(50);
});

it('concurrently added jobs are all there', async () => {
  const { producer, queues } = await testDeps();
  const payloads = Array.from({ length: 300 }, listener);
  const taken = await Promise.all(payloads.map((payload) => producer.add('forward-votes', payload)));
  expect(taken).not.toContain(false);
  const jobs = await queues['forward-votes'].getWaiting();
  const ids = (some: { listenerId: string }[]) => some.map(({ listenerId }) => listenerId).toSorted();
  expect(ids(jobs.map(({ data }) => data))).toEqual(ids(payloads));
});

it('an add that hastens a delayed job is not lost among other adds of the same listener', async () => {
  const { producer, queues } = await testDeps();
  const payload = listener();
  const queue = queues['forward-votes'];
  await producer.add('forward-votes', payload);
  const [job] = await queue.getWaiting();
  await job?.remove();
  await queue.add('Forward votes', payload, {
    delay: 60_000,
    deduplication: { id: payload.listenerId, keepLastIfActive: true },
  });
  expect(await queue.getDelayedCount()).toBe(1);
  const plain = Array.from({ length: 10 }, () => producer.add('forward-votes', payload));
  await Promise.all([...plain, producer.add('forward-votes', payload, { hasten: true })]);
  expect(await queue.getDelayedCount()).toBe(0);
  expect(await queue.getWaitingCount()).toBe(1);
});
