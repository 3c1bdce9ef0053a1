import net, { type AddressInfo, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { SECOND } from '../../src/clock.ts';
import { pauseListener } from '../../src/delivery/listeners.ts';
import type { Platform } from '../../src/platform.ts';
import { PATIENT } from '../support/patient.ts';
import { startRedis, type TestService } from '../support/services.ts';
import { startWorker } from '../support/worker-process.ts';
import { addGameServer, castingPlatform, type GameServer } from './game-server.ts';

/** Ends a service with the test, also when the test left it stopped or dead. */
function forThisTest<T extends TestService>(service: T): T {
  onTestFinished(() => service.stop());
  return service;
}

/** A Redis of this test alone, and a platform on it. */
async function platformOnOwnRedis(): Promise<{ redis: TestService; platform: Platform }> {
  const redis = forThisTest(await startRedis());
  return { redis, platform: await castingPlatform({ REDIS_URL: redis.url }) };
}

/** Waits until all votes of a server have arrived, each once. */
async function allArriveOnce(server: GameServer, count: number): Promise<void> {
  await vi.waitUntil(async () => (await server.count('delivered')) === count, PATIENT);
  expect(new Set(server.listener.votes.map(({ uuid }) => uuid)).size).toBe(count);
  expect(server.listener.votes).toHaveLength(count);
}

function delayedJobs({ queues }: Platform): Promise<number> {
  return queues['forward-votes'].getDelayedCount();
}

it('accepts votes while Redis is dead, and delivers them when it is back', async () => {
  const { redis, platform } = await platformOnOwnRedis();
  const alpha = await addGameServer(platform);
  const worker = await startWorker(platform.config);
  await redis.kill();
  await worker.waitForEvent('redis.away');
  for (let n = 0; n < 20; n += 1) await alpha.cast(`player ${n}`);
  expect(await alpha.count('waiting')).toBe(20);
  await redis.restart();
  await allArriveOnce(alpha, 20);
});

it('accepts 2,000 votes quickly while Redis stands still, and delivers when it goes on', async () => {
  const { redis, platform } = await platformOnOwnRedis();
  const alpha = await addGameServer(platform, { name: 'Alpha' });
  const paused = await addGameServer(platform, { name: 'Beta' });
  await pauseListener(platform, paused.serverId, 'test');
  await startWorker(platform.config);
  await alpha.cast('before');
  await allArriveOnce(alpha, 1);

  redis.pause();
  const began = performance.now();
  for (let n = 0; n < 200; n += 1) {
    const casts = Array.from({ length: 10 }, (_, i) => (i === 0 ? alpha : paused).cast(`player ${n}-${i}`));
    await Promise.all(casts);
  }
  // Had each batch waited a second for Redis, this would be 200 s.
  expect(performance.now() - began).toBeLessThan(100 * SECOND);
  redis.resume();
  await allArriveOnce(alpha, 201);
  expect(await paused.count('waiting')).toBe(1_800);
}, 150_000);

it('loses nothing when Redis is emptied between a vote and its delivery, with jobs delayed and active', async () => {
  const { platform } = await platformOnOwnRedis();
  const active = await addGameServer(platform, { name: 'Alpha' });
  const delayed = await addGameServer(platform, { name: 'Beta' });
  await startWorker(platform.config);
  delayed.listener.behaviour = { onConnect: 'close' };
  for (const name of ['Steve', 'Alex', 'Kai']) await delayed.cast(name);
  await vi.waitUntil(async () => (await delayedJobs(platform)) === 1, PATIENT);
  active.listener.behaviour = { answerDelayMs: 150 };
  for (let n = 0; n < 12; n += 1) await active.cast(`player ${n}`);
  await vi.waitUntil(() => active.listener.votes.length >= 4, { ...PATIENT, interval: 2 });

  await platform.producerRedis.flushall();
  expect(active.listener.votes.length).toBeLessThan(12);
  delayed.listener.behaviour = {};
  await allArriveOnce(active, 12);
  await allArriveOnce(delayed, 3);
});

it('loses nothing when Redis comes back empty', async () => {
  const { redis, platform } = await platformOnOwnRedis();
  const active = await addGameServer(platform, { name: 'Alpha' });
  const delayed = await addGameServer(platform, { name: 'Beta' });
  const worker = await startWorker(platform.config);
  delayed.listener.behaviour = { onConnect: 'close' };
  for (const name of ['Steve', 'Alex', 'Kai']) await delayed.cast(name);
  await vi.waitUntil(async () => (await delayedJobs(platform)) === 1, PATIENT);
  active.listener.behaviour = { answerDelayMs: 150 };
  for (let n = 0; n < 12; n += 1) await active.cast(`player ${n}`);
  await vi.waitUntil(() => active.listener.votes.length >= 4, { ...PATIENT, interval: 2 });

  await redis.kill();
  await worker.waitForEvent('redis.away');
  delayed.listener.behaviour = {};
  await active.cast('meanwhile');
  forThisTest(await startRedis({ port: redis.port }));
  await allArriveOnce(active, 13);
  await allArriveOnce(delayed, 3);
});

it('works when Redis comes only after the processes', async () => {
  const redis = forThisTest(await startRedis());
  await redis.kill();
  const platform = await castingPlatform({ REDIS_URL: redis.url });
  const alpha = await addGameServer(platform);
  await startWorker(platform.config);
  await alpha.cast('Steve');
  const { serverId } = alpha;
  const listener = await platform.listeners.findOne({ serverId });
  const payload = { serverId: serverId.toHexString(), listenerId: listener?._id.toHexString() ?? '' };
  expect(await platform.producer.add('forward-votes', payload)).toBe(false);

  await redis.restart();
  await vi.waitUntil(() => platform.producer.add('forward-votes', payload), PATIENT);
  await allArriveOnce(alpha, 1);
});

it('tells in its timeline that a vote was found by the relay, where the call for it was lost', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  const lost = await alpha.cast('Steve');
  await platform.producer.settle();
  await platform.queues['forward-votes'].obliterate({ force: true });
  await startWorker(platform.config);
  await allArriveOnce(alpha, 1);
  expect((await alpha.delivery(lost)).attempts).toMatchObject([{ wokenBy: 'cast', relayed: true }]);
});

it('is not kept from its work by a note in Redis about a job that is gone', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  await platform.producer.settle();
  await platform.queues['forward-votes'].obliterate({ force: true });
  const listener = await platform.listeners.findOne({ serverId: alpha.serverId });
  const key = platform.queues['forward-votes'].toKey(`de:${listener?._id.toHexString()}`);
  await platform.producerRedis.set(key, '12345');
  await startWorker(platform.config);
  await alpha.cast('Steve');
  await allArriveOnce(alpha, 1);
});

/** A way to Redis on which connections can go dead without a word, as when a machine vanishes. */
async function proxyTo(port: number) {
  const pairs = new Set<[Socket, Socket]>();
  const proxy = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
    pairs.add([near, far]);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const sockets of pairs) for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    /** New connections work as before. */
    deafen() {
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).destroy();
      }
    },
  };
}

it('makes connections anew that are dead without having been closed', async () => {
  const redis = forThisTest(await startRedis());
  const proxy = await proxyTo(redis.port);
  const platform = await castingPlatform({ REDIS_URL: proxy.url });
  const alpha = await addGameServer(platform);
  await startWorker(platform.config);
  await alpha.cast('before');
  await allArriveOnce(alpha, 1);
  proxy.deafen();
  await alpha.cast('after');
  await vi.waitUntil(async () => (await alpha.count('delivered')) === 2, {
    ...PATIENT,
    timeout: 40 * SECOND,
  });
}, 60_000);
