import { expect, it, onTestFinished, vi } from 'vitest';
import { SECOND } from '../../src/clock.ts';
import { startRedis } from '../support/services.ts';
import { startWorker } from '../support/worker-process.ts';
import { addGameServer, castingPlatform, type GameServer, PATIENT } from './game-server.ts';

/** A Redis of this test alone, which may be killed. */
async function ownRedis() {
  const redis = await startRedis();
  onTestFinished(async () => {
    redis.resume();
    await redis.stop();
  });
  return redis;
}

async function allArrive(server: GameServer, count: number) {
  await vi.waitUntil(async () => (await server.count('delivered')) === count, PATIENT);
  expect(new Set(server.listener.votes.map(({ uuid }) => uuid)).size).toBe(count);
  expect(server.listener.votes).toHaveLength(count);
}

it('accepts votes while Redis is dead and delivers them when it is back', async () => {
  const redis = await ownRedis();
  const platform = await castingPlatform({ REDIS_URL: redis.url });
  const alpha = await addGameServer(platform);
  const worker = await startWorker(platform.config);
  await redis.kill();
  await worker.waitForEvent('redis.away');
  const began = performance.now();
  for (let n = 0; n < 20; n += 1) await alpha.cast(`player ${n}`);
  const t = performance.now() - began;
  console.log('20 casts', t);
  await redis.restart();
  const t0 = performance.now();
  await allArrive(alpha, 20);
  console.log('arrived after', performance.now() - t0);
});

it('accepts votes quickly while Redis is stopped', async () => {
  const redis = await ownRedis();
  const platform = await castingPlatform({ REDIS_URL: redis.url });
  const alpha = await addGameServer(platform);
  const worker = await startWorker(platform.config);
  const first = await alpha.cast('first');
  await allArrive(alpha, 1);
  redis.pause();
  const times = [];
  for (let n = 0; n < 2000; n += 1) {
    const t = performance.now();
    await alpha.cast(`player ${n}`);
    times.push(performance.now() - t);
  }
  times.sort((a, b) => a - b);
  console.log(
    '2000 casts',
    times.reduce((a, b) => a + b),
    'median',
    times[1000],
    'max',
    times.at(-1),
  );
  redis.resume();
  const t0 = performance.now();
  await allArrive(alpha, 2001);
  console.log('arrived after', performance.now() - t0);
}, 60_000);

it('loses nothing with an empty Redis', async () => {
  const redis = await ownRedis();
  const platform = await castingPlatform({ REDIS_URL: redis.url });
  const alpha = await addGameServer(platform, { name: 'Alpha' });
  const beta = await addGameServer(platform, { name: 'Beta' });
  const worker = await startWorker(platform.config);
  beta.listener.behaviour = { onConnect: 'silence' };
  await beta.cast('Steve');
  await vi.waitUntil(async () => (await platform.queues['forward-votes'].getDelayedCount()) === 1, PATIENT);
  alpha.listener.hold();
  for (let n = 0; n < 10; n += 1) await alpha.cast(`player ${n}`);
  await vi.waitUntil(() => alpha.listener.held > 0, { ...PATIENT, interval: 2 });
  await platform.producerRedis.flushall();
  beta.listener.behaviour = {};
  alpha.listener.release();
  await allArrive(alpha, 10);
  await allArrive(beta, 1);
  console.log(worker.lines.map((l) => l.event));

  await beta.listener.stop();
  await beta.cast('Alex');
  await vi.waitUntil(async () => (await platform.queues['forward-votes'].getDelayedCount()) === 1, PATIENT);
  await redis.kill();
  await redis.restart();
  console.log(await worker.stop());
});
