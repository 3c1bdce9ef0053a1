import { expect, it, onTestFinished, vi } from 'vitest';
import { SECOND } from '../../src/clock.ts';
import { drainListener } from '../../src/delivery/drain-listener.ts';
import { createSend, openListener } from '../../src/delivery/send-vote.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { PATIENT } from '../support/patient.ts';
import { startRedis } from '../support/services.ts';
import { startWorker } from '../support/worker-process.ts';
import { addGameServer, castingPlatform, madeBy } from './game-server.ts';

/** Listeners are waited for as long as it may be set; so the end of a wait is not their timeout. */
const PATIENT_SENDERS = { LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '34000' };

it('gives back uncounted what it has not written, and ends at once', async () => {
  const platform = await castingPlatform(PATIENT_SENDERS);
  const alpha = await addGameServer(platform);
  alpha.listener.behaviour = { onConnect: 'silence' };
  const worker = await startWorker(platform.config);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.connections === 1, PATIENT);

  const end = await worker.stop();
  expect(end).toMatchObject({ code: 0, signal: null });
  expect(end.afterMs).toBeLessThan(6 * SECOND);
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

it('hands the votes that wait to another worker at once', async () => {
  // Without a wake-up call the relay would find them after a minute.
  const platform = await castingPlatform({ ...PATIENT_SENDERS, RELAY_INTERVAL_MS: '60000' });
  const alpha = await addGameServer(platform);
  alpha.listener.hold();
  const workers = await Promise.all([startWorker(platform.config), startWorker(platform.config)]);
  const votes = [];
  for (let n = 0; n < 10; n += 1) votes.push(await alpha.cast(`player ${n}`));
  await vi.waitUntil(() => alpha.listener.held === 4, PATIENT);
  const [first] = (await alpha.delivery(votes[0] as Vote)).attempts;
  const sender = workers.find((worker) => madeBy(first, worker));
  sender?.terminate();
  await sender?.waitForEvent('process.stopping');
  alpha.listener.release();
  await vi.waitUntil(async () => (await alpha.count('delivered')) === 10, PATIENT);
  expect(alpha.listener.votes).toHaveLength(10);
});

it('waits for the answers to what it has written', async () => {
  const platform = await castingPlatform(PATIENT_SENDERS);
  const alpha = await addGameServer(platform);
  alpha.listener.hold();
  const worker = await startWorker(platform.config);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.held === 1, PATIENT);
  worker.terminate();
  await worker.waitForEvent('process.stopping');
  alpha.listener.release();

  expect(await worker.ended()).toMatchObject({ code: 0 });
  expect(await alpha.delivery(vote)).toMatchObject({ state: 'delivered', attemptCount: 1 });
});

it('waits no longer than its last answers may take, and records that nobody knows', async () => {
  const platform = await castingPlatform(PATIENT_SENDERS);
  const alpha = await addGameServer(platform);
  alpha.listener.hold();
  const vote = await alpha.cast('Steve');
  const stop = new AbortController();
  const waitNoLonger = new AbortController();
  const draining = drainListener(
    {
      ...platform,
      send: createSend(platform.config),
      open: (listener) => openListener(platform.secrets, listener),
    },
    alpha.serverId,
    { stop: stop.signal, waitNoLonger: waitNoLonger.signal, budgetMs: 20_000 },
  );
  await vi.waitUntil(() => alpha.listener.held === 1, PATIENT);
  stop.abort();
  waitNoLonger.abort();
  expect(await draining).toEqual({ kind: 'stopped' });
  expect(await alpha.delivery(vote)).toMatchObject({
    state: 'waiting',
    ambiguousEnds: 1,
    attempts: [{ code: 'stopped-while-waiting', class: 'ambiguous', reached: 'written' }],
  });
});

it('ends at once when it is asked a second time', async () => {
  const platform = await castingPlatform(PATIENT_SENDERS);
  const alpha = await addGameServer(platform);
  alpha.listener.hold();
  const worker = await startWorker(platform.config);
  await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.held === 1, PATIENT);
  const began = performance.now();
  worker.terminate();
  await worker.waitForEvent('process.stopping');
  // Two signals within half a second are one wish.
  await vi.waitUntil(() => {
    worker.terminate();
    return worker.hasEnded();
  }, PATIENT);
  expect(await worker.ended()).toMatchObject({ code: 130 });
  expect(performance.now() - began).toBeLessThan(7 * SECOND);
});

it('stops in time while Redis is dead, and while it stands still', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const platform = await castingPlatform({ REDIS_URL: redis.url });
  const alpha = await addGameServer(platform);
  const workers = await Promise.all([startWorker(platform.config), startWorker(platform.config)]);
  await alpha.cast('Steve');
  await vi.waitUntil(async () => (await alpha.count('delivered')) === 1, PATIENT);

  redis.pause();
  const first = await workers[0].stop();
  redis.resume();
  await redis.kill();
  await workers[1].waitForEvent('redis.away');
  const second = await workers[1].stop();
  for (const end of [first, second]) {
    expect(end).toMatchObject({ code: 0 });
    expect(end.afterMs).toBeLessThan(8 * SECOND);
  }
});

it('ends at once while it still waits for MongoDB', async () => {
  const platform = await castingPlatform();
  const nobody = 'mongodb://127.0.0.1:9/tallyport';
  const worker = await startWorker(platform.config, {
    env: { MONGODB_URI: nobody },
    until: 'mongodb.waiting',
  });
  const end = await worker.stop();
  expect(end).toMatchObject({ code: 0 });
  expect(end.afterMs).toBeLessThan(4 * SECOND);
});

it('ends in order when its parent is gone', async () => {
  const platform = await castingPlatform();
  const worker = await startWorker(platform.config);
  worker.leave();
  expect(await worker.ended()).toMatchObject({ code: 0 });
  expect(worker.lines.at(-1)).toMatchObject({ event: 'process.stopped' });
});
