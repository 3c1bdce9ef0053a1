import type { ObjectId } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { removeListener, showListener } from '../../src/delivery/change-listener.ts';
import type { DrainResult } from '../../src/delivery/drain/drain.ts';
import type { SendVote } from '../../src/delivery/send-vote.ts';
import { type Outcome, outcome } from '../../src/listeners/outcomes.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { drainHere } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, castingDeps } from './game-server.ts';

/** Drains in this process, with the test's own send function. */
function drainWith(deps: AppDeps, serverId: ObjectId, send: SendVote): Promise<DrainResult> {
  return drainHere(deps, serverId, { budgetMs: 2_000 }, send);
}

/** A running attempt, which the test can end. */
function heldAttempt() {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Outcome>();
  const send: SendVote = () => {
    begun.resolve();
    return ended.promise;
  };
  return { send, begun: begun.promise, end: ended.resolve };
}

it('waits after an internal error before it tests again, and sends the other votes first', async () => {
  const deps = await castingDeps({ BREAKER_SCHEDULE: '0.5s' });
  const alpha = await addGameServer(deps);
  const poisoned = await alpha.cast('Poison');
  await alpha.cast('Steve');
  const { serverId } = alpha;
  const now = deps.clock.now();
  const breaker = { failures: 3, tests: 0, openSince: now, nextTestAt: now };
  await deps.listeners.updateOne({ serverId }, { $set: { breaker } });
  const sent: string[] = [];
  const send: SendVote = async (_listener, { username }) => {
    sent.push(username);
    if (username === 'Poison') throw new TypeError('cannot be sent');
    return outcome('acknowledged', 'acknowledged');
  };

  expect(await drainWith(deps, serverId, send)).toMatchObject({ kind: 'unreachable', waiting: 2 });
  expect(sent).toEqual(['Poison']);
  await vi.waitFor(async () => {
    await drainWith(deps, serverId, send);
    expect(sent).toContain('Steve');
  }, EVENTUALLY);
  expect(sent.slice(0, 2)).toEqual(['Poison', 'Steve']);
  expect(await alpha.delivery(poisoned)).toMatchObject({ state: 'waiting', attemptCount: 0, step: 0 });
});

it('keeps the votes of a listener whose secret cannot be read, and retries slowly', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const vote = await alpha.cast('Steve');
  const SECRET_KEY = 'another-key-9876543210-zyxwvutsrq';
  const shortLease = { LISTENER_TIMEOUT_MS: '100', LEASE_MS: '2400' };
  const worker = await startWorker(deps.config, { env: { SECRET_KEY, ...shortLease } });
  const first = await worker.waitForEvent('job.failed');
  expect(first.reason).toMatch(/was sealed under another SECRET_KEY; set that one as SECRET_KEY_PREVIOUS/);
  const { lease } = (await deps.listeners.findOne({ serverId: alpha.serverId })) ?? {};
  await worker.waitForEvent('job.failed', ({ jobId }) => jobId !== first.jobId);
  const { attempts, ...delivery } = await alpha.delivery(vote);
  expect(delivery).toMatchObject({ state: 'waiting', attemptCount: 0 });
  const explained = { code: 'our-fault', detail: expect.stringMatching(/another SECRET_KEY/) };
  expect(attempts.slice(0, 2)).toMatchObject([explained, explained]);
  // There is no retry before the first lease expires.
  expect(lease).toMatchObject({ until: expect.any(Date) });
  expect(attempts[1]?.at.getTime()).toBeGreaterThanOrEqual(lease?.until.getTime() ?? Infinity);
  await worker.stop();

  const SECRET_KEY_PREVIOUS = deps.config.SECRET_KEY;
  await startWorker(deps.config, { env: { SECRET_KEY, SECRET_KEY_PREVIOUS } });
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);
});

it('does not apply the outcome of an attempt from before a listener was set again', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  await alpha.cast('Steve');
  const { send, begun, end } = heldAttempt();
  const draining = drainWith(deps, alpha.serverId, send);
  await begun;
  await removeListener(deps, alpha.serverId, 'test');
  await alpha.set();
  end(outcome('bad-signature', 'written'));
  await draining;
  expect(await showListener(deps, alpha.serverId)).toMatchObject({
    state: 'active',
    revision: 1,
    pause: null,
  });
});

it('does not change a listener whose lease another worker has taken', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  await alpha.cast('Steve');
  const { send, begun, end } = heldAttempt();
  const draining = drainWith(deps, alpha.serverId, send);
  await begun;
  const { serverId } = alpha;
  const pause = { at: deps.clock.now(), by: 'tallyport', code: 'bad-signature' } as const;
  await deps.listeners.updateOne({ serverId }, { $set: { 'lease.owner': 'another', pause } });
  end(outcome('no-answer', 'written'));
  await draining;
  expect(await showListener(deps, serverId)).toMatchObject({
    state: 'paused',
    breaker: { failures: 0 },
  });
});
