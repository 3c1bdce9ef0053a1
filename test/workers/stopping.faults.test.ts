import { expect, it, onTestFinished, vi } from 'vitest';
import { EVENTUALLY } from '../support/eventually.ts';
import { startRedis } from '../support/services.ts';
import { spawnWorker } from '../support/worker-process.ts';
import { addGameServer, castingDeps } from './game-server.ts';

/** Workers wait for listeners as long as the settings allow, so no attempt ends because of the listener's timeout. */
const WAITING_SENDERS = { LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '34000' };

/** The exit of an orderly stop. A stop that takes too long exits with 1. */
const IN_TIME = { code: 0, signal: null };

it('exits at once at a second signal', async () => {
  const deps = await castingDeps(WAITING_SENDERS);
  const alpha = await addGameServer(deps);
  alpha.listener.stall();
  const worker = await spawnWorker(deps.config);
  await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.held === 1, EVENTUALLY);
  worker.terminate();
  await worker.waitForEvent('process.stopping');
  // Two signals within half a second count as one.
  await vi.waitUntil(() => {
    worker.terminate();
    return worker.hasEnded();
  }, EVENTUALLY);
  expect(await worker.ended()).toMatchObject({ code: 130 });
});

it('stops in time while Redis is dead, and while it is suspended', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const deps = await castingDeps({ REDIS_URL: redis.url });
  const alpha = await addGameServer(deps);
  const workers = await Promise.all([spawnWorker(deps.config), spawnWorker(deps.config)]);
  await alpha.cast('Steve');
  await vi.waitUntil(async () => (await alpha.count('delivered')) === 1, EVENTUALLY);

  await redis.pause();
  const first = await workers[0].stop();
  redis.resume();
  await redis.kill();
  await workers[1].waitForEvent('redis.away');
  const second = await workers[1].stop();
  for (const end of [first, second]) expect(end).toEqual(IN_TIME);
});

it('exits at once while it still waits for MongoDB', async () => {
  const deps = await castingDeps();
  const nobody = 'mongodb://127.0.0.1:9/tallyport';
  const worker = await spawnWorker(deps.config, {
    env: { MONGODB_URI: nobody },
    until: 'mongodb.waiting',
  });
  expect(await worker.stop()).toEqual(IN_TIME);
});

it('stops in order when its parent process has ended', async () => {
  const deps = await castingDeps();
  const worker = await spawnWorker(deps.config);
  worker.leave();
  expect(await worker.ended()).toEqual(IN_TIME);
  expect(worker.lines.at(-1)).toMatchObject({ event: 'process.stopped' });
});
