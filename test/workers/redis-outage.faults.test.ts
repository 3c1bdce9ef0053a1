import net, { type AddressInfo, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { pauseListener } from '../../src/delivery/change-listener.ts';
import { SECOND } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { listServer, startGameServer } from '../probing/probing-bench.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startRedis, type TestService } from '../support/services.ts';
import { startScheduler, startWorker } from '../support/workers.ts';
import { addGameServer, allArrive, castingDeps, castMany, type GameServer } from './game-server.ts';

/** Ends a service when the test ends, even if the test left it suspended or dead. */
function forThisTest<T extends TestService>(service: T): T {
  onTestFinished(() => service.stop());
  return service;
}

/** A Redis for this test alone, and a process's dependencies on it. */
async function depsOnOwnRedis(): Promise<{ redis: TestService; deps: AppDeps }> {
  const redis = forThisTest(await startRedis());
  return { redis, deps: await castingDeps({ REDIS_URL: redis.url }) };
}

function delayedJobs({ queues }: AppDeps): Promise<number> {
  return queues['test-listeners'].getDelayedCount();
}

it('accepts votes while Redis is dead, and delivers them when it is back', async () => {
  const { redis, deps } = await depsOnOwnRedis();
  const alpha = await addGameServer(deps);
  const worker = await startWorker(deps.config);
  await redis.kill();
  await worker.waitForEvent('redis.away');
  const votes = await castMany(alpha, 20);
  expect(await alpha.count('waiting')).toBe(20);
  await redis.restart();
  await allArrive(alpha, votes);
});

it('accepts 2,000 votes quickly while Redis is suspended, and delivers when it continues', async () => {
  const { redis, deps } = await depsOnOwnRedis();
  const alpha = await addGameServer(deps, { name: 'Alpha' });
  const paused = await addGameServer(deps, { name: 'Beta' });
  await pauseListener(deps, paused.serverId, 'test');
  await startWorker(deps.config);
  const votes = [await alpha.cast('before')];
  await allArrive(alpha, votes);

  await redis.pause();
  // A vote is announced instead if the worker keeps the lease of the listener.
  const adds = vi.spyOn(deps.producer, 'add').mock.results;
  const announcements = vi.spyOn(deps.producer, 'announceDueVotes').mock.results;
  let acceptedBefore = 0;
  for (let n = 0; n < 200; n += 1) {
    const casts = Array.from({ length: 10 }, (_, i) => (i === 0 ? alpha : paused).cast(`player ${n}-${i}`));
    const [vote] = await Promise.all(casts);
    if (vote) votes.push(vote);
    const newest = (announcements.at(-1) ?? adds.at(-1))?.value;
    if ((await Promise.race([newest, 'not answered'])) === 'not answered') acceptedBefore += 1;
  }
  // By now every add has been answered or given up, so this would also hold if votes were accepted only after their job
  // was added.
  expect(acceptedBefore).toBeGreaterThan(0);
  redis.resume();
  await allArrive(alpha, votes);
  expect(await paused.count('waiting')).toBe(1_800);
}, 150_000);

/**
 * A backlog of two listeners. Of `active`, four votes are being sent and eight wait. For `delayed`, a delayed job will
 * retry the votes.
 */
async function delayedAndActive(
  deps: AppDeps,
  { active, delayed }: Record<'active' | 'delayed', GameServer>,
) {
  delayed.listener.behaviour = { onConnect: 'close' };
  const delayedVotes = await castMany(delayed, 3);
  await vi.waitUntil(async () => (await delayedJobs(deps)) === 1, EVENTUALLY);
  const activeVotes = [await active.cast('First')];
  await allArrive(active, activeVotes);
  active.listener.stall();
  activeVotes.push(...(await castMany(active, 12)));
  await vi.waitUntil(() => active.listener.held === 4, EVENTUALLY);
  return { activeVotes, delayedVotes };
}

it('loses nothing when Redis is emptied between a vote and its delivery, with jobs delayed and active', async () => {
  const { deps } = await depsOnOwnRedis();
  const active = await addGameServer(deps, { name: 'Alpha' });
  const delayed = await addGameServer(deps, { name: 'Beta' });
  await startWorker(deps.config);
  const { activeVotes, delayedVotes } = await delayedAndActive(deps, { active, delayed });

  await deps.producerRedis.flushall();
  active.listener.release();
  delayed.listener.behaviour = {};
  await allArrive(active, activeVotes);
  await allArrive(delayed, delayedVotes);
});

it('loses nothing when Redis starts again without its data', async () => {
  const { redis, deps } = await depsOnOwnRedis();
  const active = await addGameServer(deps, { name: 'Alpha' });
  const delayed = await addGameServer(deps, { name: 'Beta' });
  const worker = await startWorker(deps.config);
  const { activeVotes, delayedVotes } = await delayedAndActive(deps, { active, delayed });

  await redis.kill();
  await worker.waitForEvent('redis.away');
  active.listener.release();
  delayed.listener.behaviour = {};
  activeVotes.push(await active.cast('meanwhile'));
  forThisTest(await startRedis({ port: redis.port }));
  await allArrive(active, activeVotes);
  await allArrive(delayed, delayedVotes);
});

it('works when Redis starts after the processes', async () => {
  const redis = forThisTest(await startRedis());
  await redis.kill();
  const deps = await castingDeps({ REDIS_URL: redis.url });
  const alpha = await addGameServer(deps);
  await startWorker(deps.config);
  const vote = await alpha.cast('Steve');
  const { serverId } = alpha;
  const listener = await deps.listeners.findOne({ serverId });
  const payload = { serverId: serverId.toHexString(), listenerId: listener?._id.toHexString() ?? '' };
  expect(await deps.producer.add('forward-votes', payload)).toBe(false);

  await redis.restart();
  await vi.waitUntil(() => deps.producer.add('forward-votes', payload), EVENTUALLY);
  await allArrive(alpha, [vote]);
});

it('continues with probes after Redis was unavailable, and never probes a removed server', async () => {
  const { redis, deps } = await depsOnOwnRedis();
  const [worker, scheduler] = await Promise.all([startWorker(deps.config), startScheduler(deps.config)]);
  await redis.kill();
  await worker.waitForEvent('redis.away');
  await scheduler.waitForEvent('redis.away');
  const [far, gone] = [await startGameServer(), await startGameServer()];
  const serverId = await listServer(deps, far.port);
  await removeServer(deps, await listServer(deps, gone.port), 'test');
  await redis.restart();
  await vi.waitFor(async () => {
    const server = await deps.servers.findOne({ _id: serverId });
    expect(server?.probe.status).toBe('online');
  }, EVENTUALLY);
  expect(gone.asked).toBe(0);
});

/** A proxy to Redis. Its connections can stop working without being closed, as when a machine vanishes. */
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

it('reopens connections that are dead but were not closed', async () => {
  const redis = forThisTest(await startRedis());
  const proxy = await proxyTo(redis.port);
  const deps = await castingDeps({ REDIS_URL: proxy.url });
  const alpha = await addGameServer(deps);
  await startWorker(deps.config);
  await allArrive(alpha, [await alpha.cast('before')]);
  proxy.deafen();
  await alpha.cast('after');
  await vi.waitUntil(async () => (await alpha.count('delivered')) === 2, {
    ...EVENTUALLY,
    timeout: 40 * SECOND,
  });
}, 60_000);
