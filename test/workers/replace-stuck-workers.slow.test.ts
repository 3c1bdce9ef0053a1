import { Worker } from 'bullmq';
import { expect, it, onTestFinished, vi } from 'vitest';
import { EVENTUALLY } from '../support/eventually.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, allArrive, castingDeps, castMany, noLeases } from './game-server.ts';

const WATCH_EVERY_MS = 100;

/** Makes BullMQ's fetch of the next job never return, once for each queue: the state that the reported errors leave. */
function stickOnce(): { stuck: Set<string> } {
  const stuck = new Set<string>();
  const prototype = Worker.prototype as unknown as { _getNextJob(...args: unknown[]): Promise<unknown> };
  const fetchNext = prototype._getNextJob;
  const spy = vi.spyOn(prototype, '_getNextJob').mockImplementation(function (this: Worker, ...args) {
    if (stuck.has(this.name)) return fetchNext.apply(this, args);
    stuck.add(this.name);
    return new Promise(() => undefined);
  });
  onTestFinished(() => spy.mockRestore());
  return { stuck };
}

it('replaces a worker that takes no job while jobs wait, and delivers', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const { stuck } = stickOnce();
  const worker = await startWorker(deps.config, {
    args: ['forward-votes'],
    watchEveryMs: WATCH_EVERY_MS,
  });
  await vi.waitUntil(() => stuck.has('forward-votes') && stuck.has('test-listeners'), EVENTUALLY);
  await allArrive(alpha, await castMany(alpha, 3));
  expect(worker.lines.filter(({ event }) => event === 'worker.replaced').length).toBeGreaterThan(0);
  // The stuck worker, which was replaced, must end with the process.
  await worker.stop();
});

it('replaces a worker that leaves an overdue job delayed, and does not replace it again if the new one takes nothing', async () => {
  const deps = await castingDeps();
  await deps.queues['tell-owners'].add('Tell owners', {}, { delay: 1 });
  const prototype = Worker.prototype as unknown as { _getNextJob(): Promise<unknown> };
  const spy = vi.spyOn(prototype, '_getNextJob').mockImplementation(() => new Promise(() => undefined));
  onTestFinished(() => spy.mockRestore());
  const worker = await startWorker(deps.config, { args: ['tell-owners'], watchEveryMs: WATCH_EVERY_MS });
  await worker.waitForEvent('worker.replaced');
  await untilCompared(5);
  expect(worker.lines.filter(({ event }) => event === 'worker.replaced')).toHaveLength(1);
});

it('does not replace workers that are busy, have nothing to do, or whose queue is paused', async () => {
  const deps = await castingDeps({ WORKER_CONCURRENCY: '1' });
  const alpha = await addGameServer(deps, { name: 'Alpha' });
  const beta = await addGameServer(deps, { name: 'Beta' });
  const worker = await startWorker(deps.config, {
    args: ['forward-votes'],
    watchEveryMs: WATCH_EVERY_MS,
  });
  for (const server of [alpha, beta]) await allArrive(server, [await server.cast('First')]);
  const queue = deps.queues['forward-votes'];
  // Votes for a kept lease need no job.
  await queue.pause();
  await noLeases(deps);
  await queue.resume();
  alpha.listener.stall();
  await castMany(alpha, 2);
  await vi.waitUntil(() => alpha.listener.held > 0, EVENTUALLY);
  await castMany(beta, 2);
  await vi.waitUntil(async () => (await queue.getWaitingCount()) > 0, EVENTUALLY);
  await untilCompared(5);
  await queue.pause();
  alpha.listener.release();
  await vi.waitUntil(async () => (await queue.getActiveCount()) === 0, EVENTUALLY);
  await noLeases(deps);
  await alpha.cast('Later');
  await vi.waitUntil(async () => (await queue.getWaitingCount()) > 0, EVENTUALLY);
  await untilCompared(5);
  expect(worker.lines.filter(({ event }) => event === 'worker.replaced')).toEqual([]);
});

/** Waits for at least the time of this many comparisons. */
async function untilCompared(times: number): Promise<void> {
  const began = performance.now();
  await vi.waitUntil(() => performance.now() - began > times * WATCH_EVERY_MS, EVENTUALLY);
}
