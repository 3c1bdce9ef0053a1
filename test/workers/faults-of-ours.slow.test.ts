import type { ObjectId } from 'mongodb';
import { expect, it, vi } from 'vitest';
import type { DrainResult } from '../../src/delivery/drain/drain.ts';
import { removeListener, showListener } from '../../src/delivery/listeners.ts';
import type { Send } from '../../src/delivery/send-vote.ts';
import { type Outcome, outcome } from '../../src/listeners/outcomes.ts';
import type { Platform } from '../../src/process/app-deps.ts';
import { drainHere } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, castingPlatform } from './game-server.ts';

/** Drains in this process, with the test's own send function. */
function drainWith(platform: Platform, serverId: ObjectId, send: Send): Promise<DrainResult> {
  return drainHere(platform, serverId, { budgetMs: 2_000 }, send);
}

/** An attempt that is under way until the test ends it. */
function heldAttempt() {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Outcome>();
  const send: Send = () => {
    begun.resolve();
    return ended.promise;
  };
  return { send, begun: begun.promise, end: ended.resolve };
}

it('pauses before it tests again after an internal error, and sends the other votes first', async () => {
  const platform = await castingPlatform({ BREAKER_SCHEDULE: '0.5s' });
  const alpha = await addGameServer(platform);
  const poisoned = await alpha.cast('Poison');
  await alpha.cast('Steve');
  const { serverId } = alpha;
  const now = platform.clock.now();
  const breaker = { failures: 3, tests: 0, openSince: now, nextTestAt: now };
  await platform.listeners.updateOne({ serverId }, { $set: { breaker } });
  const sent: string[] = [];
  const send: Send = async (_listener, { username }) => {
    sent.push(username);
    if (username === 'Poison') throw new TypeError('cannot be sent');
    return outcome('acknowledged', 'acknowledged');
  };

  expect(await drainWith(platform, serverId, send)).toMatchObject({ kind: 'unreachable', waiting: 2 });
  expect(sent).toEqual(['Poison']);
  await vi.waitFor(async () => {
    await drainWith(platform, serverId, send);
    expect(sent).toContain('Steve');
  }, EVENTUALLY);
  expect(sent.slice(0, 2)).toEqual(['Poison', 'Steve']);
  expect(await alpha.delivery(poisoned)).toMatchObject({ state: 'waiting', attemptCount: 0, step: 0 });
});

it('keeps the votes of a listener whose secret cannot be read, and retries slowly', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  const vote = await alpha.cast('Steve');
  const SECRET_KEY = 'another-key-9876543210-zyxwvutsrq';
  const shortLease = { LISTENER_TIMEOUT_MS: '100', LEASE_MS: '2400' };
  const worker = await startWorker(platform.config, { env: { SECRET_KEY, ...shortLease } });
  const first = await worker.waitForEvent('job.failed');
  expect(first.reason).toMatch(/was sealed under another SECRET_KEY; set that one as SECRET_KEY_PREVIOUS/);
  const { lease } = (await platform.listeners.findOne({ serverId: alpha.serverId })) ?? {};
  await worker.waitForEvent('job.failed', ({ jobId }) => jobId !== first.jobId);
  const { attempts, ...delivery } = await alpha.delivery(vote);
  expect(delivery).toMatchObject({ state: 'waiting', attemptCount: 0 });
  const explained = { code: 'our-fault', detail: expect.stringMatching(/another SECRET_KEY/) };
  expect(attempts.slice(0, 2)).toMatchObject([explained, explained]);
  // There is no retry before the first lease expires.
  expect(lease).toMatchObject({ until: expect.any(Date) });
  expect(attempts[1]?.at.getTime()).toBeGreaterThanOrEqual(lease?.until.getTime() ?? Infinity);
  await worker.stop();

  const SECRET_KEY_PREVIOUS = platform.config.SECRET_KEY;
  await startWorker(platform.config, { env: { SECRET_KEY, SECRET_KEY_PREVIOUS } });
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);
});

it('changes the state of a listener that was set again only by its own attempts', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  await alpha.cast('Steve');
  const { send, begun, end } = heldAttempt();
  const draining = drainWith(platform, alpha.serverId, send);
  await begun;
  await removeListener(platform, alpha.serverId, 'test');
  await alpha.set();
  end(outcome('bad-signature', 'written'));
  await draining;
  expect(await showListener(platform, alpha.serverId)).toMatchObject({
    state: 'active',
    revision: 1,
    pause: null,
  });
});

it('changes nothing on a listener that another worker has taken over', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  await alpha.cast('Steve');
  const { send, begun, end } = heldAttempt();
  const draining = drainWith(platform, alpha.serverId, send);
  await begun;
  const { serverId } = alpha;
  const pause = { at: platform.clock.now(), by: 'tallyport', code: 'bad-signature' } as const;
  await platform.listeners.updateOne({ serverId }, { $set: { 'lease.owner': 'another', pause } });
  end(outcome('no-answer', 'written'));
  await draining;
  expect(await showListener(platform, serverId)).toMatchObject({
    state: 'paused',
    breaker: { failures: 0 },
  });
});
