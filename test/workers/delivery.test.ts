import { expect, it, vi } from 'vitest';
import { deliveryBench } from '../support/delivering.ts';
import { startWorker } from '../support/worker-process.ts';

it('delivers a vote within a second or so', async () => {
  const bench = await deliveryBench();
  const t = performance.now();
  const worker = await startWorker(bench.platform.config);
  console.log('started', performance.now() - t);
  const vote = await bench.cast('Steve');
  const t2 = performance.now();
  await vi.waitUntil(() => bench.listener.votes.length === 1, { timeout: 3000 });
  console.log('delivered', performance.now() - t2);
  await vi.waitFor(async () => expect((await bench.vote(vote)).delivery.state).toBe('delivered'));
  console.log(await worker.stop(), worker.lines, worker.errors);
});
