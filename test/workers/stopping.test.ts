import { expect, it, vi } from 'vitest';
import { SECOND } from '../../src/clock.ts';
import { startRedis } from '../support/services.ts';
import { startWorker } from '../support/worker-process.ts';
import { addGameServer, castingPlatform, PATIENT } from './game-server.ts';

it('gives back uncounted what it has not written when it is asked to stop, and ends at once', async () => {
  const platform = await castingPlatform({ LISTENER_TIMEOUT_MS: '5000', LEASE_MS: '22000' });
  const alpha = await addGameServer(platform);
  alpha.listener.behaviour = { onConnect: 'silence' };
  const worker = await startWorker(platform.config);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.connections === 1, PATIENT);

  const end = await worker.stop();
  expect(end).toMatchObject({ code: 0, signal: null });
  expect(end.afterMs).toBeLessThan(4 * SECOND);
  expect(await alpha.delivery(vote)).toMatchObject({
    state: 'waiting',
    attemptCount: 0,
    step: 0,
    attempts: [{ code: 'stopped-before-written', class: 'none' }],
  });

  alpha.listener.behaviour = {};
  await startWorker(platform.config);
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), PATIENT);
  expect(alpha.listener.votes).toHaveLength(1);
});

it('waits for the answers of what it has written, at most ten seconds', async () => {
  const platform = await castingPlatform({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '34000' });
  const alpha = await addGameServer(platform, { name: 'Alpha' });
  const beta = await addGameServer(platform, { name: 'Beta' });
  alpha.listener.behaviour = { answerDelayMs: 2_000 };
  beta.listener.hold();
  const worker = await startWorker(platform.config);
  const answered = await alpha.cast('Steve');
  const silent = await beta.cast('Steve');
  await vi.waitUntil(() => alpha.listener.votes.length === 1 && beta.listener.held === 1, PATIENT);

  const end = await worker.stop();
  expect(end).toMatchObject({ code: 0 });
  console.log(end, worker.lines, worker.errors);
  expect(await alpha.delivery(answered)).toMatchObject({ state: 'delivered', attemptCount: 1 });
  console.log(await beta.delivery(silent));
}, 40_000);

it('ends at once when it is asked a second time', async () => {
  const platform = await castingPlatform({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '34000' });
  const alpha = await addGameServer(platform);
  alpha.listener.hold();
  const worker = await startWorker(platform.config);
  await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.held === 1, PATIENT);
  worker.terminate();
  await worker.waitForEvent('process.stopping');
  // Two signals in half a second are one wish.
  await vi.waitUntil(() => {
    worker.terminate();
    return worker.hasEnded();
  }, PATIENT);
  console.log(await worker.ended());
});

it('stops in time while Redis is away', async () => {
  const redis = await startRedis();
  const platform = await castingPlatform({ REDIS_URL: redis.url });
  const worker = await startWorker(platform.config);
  await redis.kill();
  await worker.waitForEvent('redis.away');
  const end = await worker.stop();
  console.log(end, worker.lines, worker.errors);
  expect(end).toMatchObject({ code: 0 });
  await redis.restart();
  const worker2 = await startWorker(platform.config);
  redis.pause();
  const end2 = await worker2.stop();
  console.log('paused', end2, worker2.lines, worker2.errors);
  redis.resume();
  await redis.stop();
}, 60_000);

it('ends when its parent is gone', async () => {
  const platform = await castingPlatform();
  const worker = await startWorker(platform.config);
  worker.leave();
  await vi
    .waitFor(() => expect(worker.hasEnded()).toBe(true), { timeout: 5000 })
    .catch(() => console.log('not ended'));
  console.log(worker.lines, worker.errors);
  expect(await worker.ended()).toMatchObject({ code: 0 });
});
