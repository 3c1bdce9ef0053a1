import { expect, it, vi } from 'vitest';
import { drainListener } from '../../src/delivery/drain-listener.ts';
import { removeListener, setListener, showListener } from '../../src/delivery/listeners.ts';
import { relayDueWork } from '../../src/delivery/relay.ts';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import { openListener, type Send } from '../../src/delivery/send-vote.ts';
import type { Platform } from '../../src/platform.ts';
import { startWorker } from '../support/worker-process.ts';
import { addGameServer, castingPlatform, PATIENT } from './game-server.ts';

const never = new AbortController().signal;

/** Drains in this process, with a way to send of our own. */
function drainWith(platform: Platform, serverId: Parameters<typeof drainListener>[1], send: Send) {
  const deps = {
    ...platform,
    send,
    open: (listener: Parameters<typeof openListener>[1]) => openListener(platform.secrets, listener),
  };
  return drainListener(deps, serverId, { stop: never, waitNoLonger: never, budgetMs: 2_000 });
}

it('tries a vote again only after a pause when the fault is ours, and lets the other votes go', async () => {
  const platform = await castingPlatform({ BREAKER_SCHEDULE: '0.2s' });
  const alpha = await addGameServer(platform);
  const poisoned = await alpha.cast('Poison');
  await alpha.cast('Steve');
  await platform.listeners.updateOne(
    { serverId: alpha.serverId },
    { $set: { breaker: { failures: 3, tests: 0, openSince: new Date(), nextTestAt: new Date() } } },
  );
  const sent: string[] = [];
  const end = await drainWith(platform, alpha.serverId, async (_listener, { username }) => {
    sent.push(username);
    if (username === 'Poison') throw new TypeError('cannot be sent');
    return { code: 'acknowledged', class: 'delivered', reached: 'acknowledged' };
  });
  console.log(end, sent.length, sent.slice(0, 5));
  expect(sent).toEqual(['Poison']);
  expect(end).toMatchObject({ kind: 'unreachable' });
  expect(await alpha.delivery(poisoned)).toMatchObject({ state: 'waiting', attemptCount: 0 });
});

it('finishes what a killed worker left when the listener was removed meanwhile', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  const vote = await alpha.cast('Steve');
  await platform.votes.updateOne({ serverId: alpha.serverId, _id: vote._id }, [
    {
      $set: {
        'delivery.state': 'sending',
        'delivery.leaseUntil': { $subtract: ['$$NOW', 1] },
        'delivery.attemptCount': 1,
        'delivery.attempts': [
          {
            id: vote._id,
            at: '$votedAt',
            worker: 'a dead one',
            protocol: 'votifier-v2',
            revision: 1,
            test: false,
          },
        ],
      },
    },
    { $unset: 'delivery.nextAt' },
  ]);
  await removeListener(platform, alpha.serverId, 'test');
  await relayDueWork(platform);
  expect(await alpha.delivery(vote)).toMatchObject({ state: 'none', attempts: [{ code: 'lease-ran-out' }] });
  expect(await relayDueWork(platform)).toEqual({ woken: 0, expired: 0, released: 0 });
  expect(await resendVote(platform, vote._id, 'test')).toEqual({ kind: 'no-listener' });
});

it('keeps the votes of a listener whose secret cannot be read, and says so without a rush', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  const beta = await addGameServer(platform, { name: 'Beta' });
  const worker = await startWorker(platform.config, {
    env: { SECRET_KEY: 'another-key-9876543210-zyxwvutsrq' },
  });
  const vote = await alpha.cast('Steve');
  const failed = await worker.waitForEvent('job.failed');
  console.log(failed);
  await worker.waitForEvent('job.failed', (line) => line.jobId !== failed.jobId);
  const t = worker.lines.filter((l) => l.event === 'job.failed').map((l) => l.time);
  console.log(t);
  expect(await alpha.delivery(vote)).toMatchObject({ state: 'waiting', attemptCount: 0, attempts: [] });
  await worker.stop();
  await startWorker(platform.config, {
    env: { SECRET_KEY: 'another-key-9876543210-zyxwvutsrq', SECRET_KEY_PREVIOUS: platform.config.SECRET_KEY },
  });
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), PATIENT);
});

it('tries waiting votes at once when the owner mends the settings, whatever their own next time', async () => {
  const platform = await castingPlatform({ DELIVERY_SCHEDULE: '0s,600s', BREAKER_SCHEDULE: '600s' });
  const alpha = await addGameServer(platform);
  await alpha.listener.stop();
  await startWorker(platform.config);
  const votes = [await alpha.cast('Steve')];
  await vi.waitFor(async () => expect((await alpha.delivery(votes[0] as never)).step).toBe(1), PATIENT);
  await alpha.listener.start();
  await alpha.set();
  await vi.waitFor(async () => expect((await alpha.delivery(votes[0] as never)).state).toBe('delivered'), {
    timeout: 5000,
  });
});

it('judges a listener that was removed and set again by its own attempts alone', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  await alpha.cast('Steve');
  const { promise: answer, resolve } = Promise.withResolvers<Awaited<ReturnType<Send>>>();
  const sent = Promise.withResolvers<void>();
  const draining = drainWith(platform, alpha.serverId, async () => {
    sent.resolve();
    return answer;
  });
  await sent.promise;
  await removeListener(platform, alpha.serverId, 'test');
  await alpha.set();
  resolve({ code: 'bad-signature', class: 'configuration', reached: 'written' });
  await draining;
  expect(await showListener(platform, alpha.serverId)).toMatchObject({ state: 'active', pause: null });
});

it('a worker whose lease another has taken changes nothing', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  await alpha.cast('Steve');
  const { promise: answer, resolve } = Promise.withResolvers<Awaited<ReturnType<Send>>>();
  const sent = Promise.withResolvers<void>();
  const draining = drainWith(platform, alpha.serverId, async () => {
    sent.resolve();
    return answer;
  });
  await sent.promise;
  await platform.listeners.updateOne(
    { serverId: alpha.serverId },
    { $set: { 'lease.owner': 'another', pause: { at: new Date(), by: 'tallyport', code: 'bad-signature' } } },
  );
  resolve({ code: 'no-answer', class: 'ambiguous', reached: 'written' });
  await draining;
  expect(await showListener(platform, alpha.serverId)).toMatchObject({
    state: 'paused',
    breaker: { failures: 0 },
  });
});
