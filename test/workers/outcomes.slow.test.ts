import { expect, it, vi } from 'vitest';
import {
  type ListenerSettings,
  pauseListener,
  resumeListener,
  showListener,
} from '../../src/delivery/change-listener.ts';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import type { Behaviour, VotifierListener } from '../../src/demo/votifier-listener.ts';
import { HOUR, systemClock } from '../../src/platform/clock.ts';
import type { DeliveryState } from '../../src/votes/vote.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, castingDeps } from './game-server.ts';

const UNKNOWN_ERROR = '{"status":"error","cause":"java.lang.Exception","error":"disk full"}\n';

type Case = {
  name: string;
  player?: string;
  protocol?: ListenerSettings['protocol'];
  behaviour?: Behaviour;
  before?: (listener: VotifierListener) => unknown;
  /** The listener has taken a vote before. */
  known?: true;
  state: DeliveryState;
  codes: string[];
  ends: Record<string, number>;
  receipts: number;
  listener: object;
};

const CASES: Case[] = [
  {
    name: 'v2 that answers ok',
    state: 'delivered',
    codes: ['acknowledged'],
    ends: { delivered: 1 },
    receipts: 1,
    listener: { state: 'active', breaker: { failures: 0 } },
  },
  {
    name: 'v1 that closes in order',
    protocol: 'votifier-v1',
    state: 'delivered',
    codes: ['sent-not-confirmed'],
    ends: { delivered: 1 },
    receipts: 1,
    listener: { state: 'active', breaker: { failures: 0 } },
  },
  {
    name: 'v2 that takes the vote and closes without a word, three times',
    known: true,
    behaviour: { onFrame: 'close' },
    state: 'unconfirmed',
    codes: ['closed-without-answer', 'closed-without-answer', 'closed-without-answer'],
    ends: { ambiguous: 3 },
    receipts: 3,
    listener: { state: 'unreachable', breaker: { code: 'closed-without-answer' } },
  },
  {
    name: 'v2 that has never taken a vote and closes without a word',
    behaviour: { onFrame: 'close' },
    state: 'waiting',
    codes: ['closed-without-answer'],
    ends: { ambiguous: 1 },
    receipts: 1,
    listener: { state: 'paused', waiting: 1, pause: { by: 'tallyport', code: 'never-acknowledged' } },
  },
  {
    name: 'v2 with another token',
    before: (listener) => {
      listener.tokens = { default: 'changed-in-the-plugin' };
    },
    state: 'waiting',
    codes: ['bad-signature'],
    ends: { configuration: 1 },
    receipts: 0,
    listener: { state: 'paused', waiting: 1, pause: { by: 'tallyport', code: 'bad-signature' } },
  },
  {
    name: 'v1-only with a v2 token',
    behaviour: { v1Only: true },
    state: 'waiting',
    codes: ['v1-only'],
    ends: { configuration: 1 },
    receipts: 0,
    listener: { state: 'paused', waiting: 1, pause: { by: 'tallyport', code: 'v1-only' } },
  },
  {
    name: 'something else on the port',
    behaviour: { greeting: 'HTTP/1.1 400 Bad Request\r\n\r\n' },
    state: 'waiting',
    codes: ['not-votifier'],
    ends: { configuration: 1 },
    receipts: 0,
    listener: { state: 'paused', waiting: 1, pause: { code: 'not-votifier' } },
  },
  {
    name: 'v2 that takes no name of this length',
    player: 'Notch_the_first_of_his_name',
    state: 'failed',
    codes: ['name-too-long'],
    ends: { 'vote-only': 1 },
    receipts: 0,
    listener: { state: 'active', voteFaults: 0 },
  },
];

it('gives every vote the state that follows from its listener’s answer', async () => {
  const deps = await castingDeps();
  await startWorker(deps.config);
  await Promise.all(
    CASES.map(async ({ name, player = 'Steve', protocol, behaviour = {}, before, known, ...expected }) => {
      const server = await addGameServer(deps, { name, ...(protocol ? { protocol } : {}) });
      if (known) {
        await server.cast('First');
        await vi.waitUntil(async () => (await server.count('delivered')) === 1, EVENTUALLY);
        server.listener.votes.length = 0;
      }
      server.listener.behaviour = behaviour;
      before?.(server.listener);
      const vote = await server.cast(player);
      await vi.waitFor(async () => {
        const { state, attempts, ends } = await server.delivery(vote);
        expect({ name, state, ends }).toEqual({ name, state: expected.state, ends: expected.ends });
        expect(attempts.map(({ code }) => code)).toEqual(expected.codes);
        expect(await showListener(deps, server.serverId)).toMatchObject(expected.listener);
      }, EVENTUALLY);
      expect(server.listener.votes).toHaveLength(expected.receipts);
    }),
  );
});

it('retries votes that were not accepted by the schedule, and never earlier', async () => {
  const deps = await castingDeps({ DELIVERY_SCHEDULE: '0s,0.5s,1s', BREAKER_SCHEDULE: '0.5s' });
  const alpha = await addGameServer(deps);
  await startWorker(deps.config);
  alpha.listener.behaviour = { answer: UNKNOWN_ERROR };
  const vote = await alpha.cast('Steve');
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).step).toBe(2), EVENTUALLY);
  alpha.listener.behaviour = {};
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);

  const { attempts, ends } = await alpha.delivery(vote);
  expect(ends).toEqual({ transient: 2, delivered: 1 });
  expect(attempts[0]).toMatchObject({
    code: 'unknown-error',
    reached: 'written',
    words: expect.stringContaining('disk full'),
  });
  const waits = attempts.slice(1).map(({ at }, n) => {
    const before = attempts[n];
    return at.getTime() - (before?.at.getTime() ?? 0) - (before?.durationMs ?? 0);
  });
  // ± 20 %, and a millisecond of rounding.
  expect(waits[0]).toBeGreaterThanOrEqual(399);
  expect(waits[1]).toBeGreaterThanOrEqual(799);
});

it('gives up a vote at its deadline by mongod’s clock, and not because a worker’s clock is ahead', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  await pauseListener(deps, alpha.serverId, 'test');
  const early = await alpha.cast('Steve');
  const late = await alpha.cast('Alex');
  await deps.votes.updateOne({ serverId: alpha.serverId, _id: late._id }, [
    { $set: { 'delivery.expiresAt': { $subtract: ['$$NOW', 1] } } },
  ]);
  await startWorker(deps.config, { clock: systemClock(73 * HOUR) });
  await vi.waitFor(async () => expect((await alpha.delivery(late)).state).toBe('failed'), EVENTUALLY);
  expect(await alpha.delivery(late)).toMatchObject({ attemptCount: 0, events: [{ kind: 'expired' }] });
  expect(await alpha.delivery(early)).toMatchObject({ state: 'waiting' });
});

it('sends the waiting votes of a paused listener when its owner corrects the settings', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  await startWorker(deps.config);
  alpha.listener.tokens = { default: 'changed-in-the-plugin' };
  const votes = [await alpha.cast('Steve'), await alpha.cast('Alex')];
  await vi.waitFor(async () => {
    const shown = await showListener(deps, alpha.serverId);
    expect(shown).toMatchObject({ state: 'paused', waiting: 2 });
    expect(shown?.pause?.words).toMatch(/Signature is not valid/);
  }, EVENTUALLY);
  await alpha.set({ secret: 'changed-in-the-plugin' });
  await vi.waitUntil(async () => (await alpha.count('delivered')) === votes.length, EVENTUALLY);
  expect(alpha.listener.votes).toHaveLength(2);
  await vi.waitFor(async () => {
    const shown = await showListener(deps, alpha.serverId);
    expect(shown).toMatchObject({ state: 'active', pause: null, lastDeliveredAt: expect.any(Date) });
  }, EVENTUALLY);
});

it('runs the delayed job of a listener at once when its owner changes or resumes it', async () => {
  // The breaker, the vote's own schedule and the sweep would all be too late.
  const deps = await castingDeps({
    DELIVERY_SCHEDULE: '0s,600s',
    BREAKER_SCHEDULE: '600s',
    RELAY_INTERVAL_MS: '60000',
  });
  await startWorker(deps.config);
  const alpha = await addGameServer(deps, { name: 'Alpha' });
  const beta = await addGameServer(deps, { name: 'Beta' });
  for (const server of [alpha, beta]) {
    server.listener.behaviour = { onConnect: 'close' };
    for (const name of ['Steve', 'Alex', 'Kai', 'Zoe']) await server.cast(name);
  }
  const queue = deps.queues['test-listeners'];
  await vi.waitUntil(async () => (await queue.getDelayedCount()) === 2, EVENTUALLY);
  for (const server of [alpha, beta]) server.listener.behaviour = {};
  await alpha.set();
  await resumeListener(deps, beta.serverId, 'test');
  for (const server of [alpha, beta]) {
    await vi.waitUntil(async () => (await server.count('delivered')) === 4, EVENTUALLY);
    expect(server.listener.votes).toHaveLength(4);
  }
});

it('does not apply the outcome of an attempt with the old settings to new ones', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  await startWorker(deps.config);
  const { tokens, token } = alpha.listener;
  alpha.listener.tokens = { default: 'another-token' };
  alpha.listener.stall();
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.held === 1, EVENTUALLY);
  await alpha.set({ secret: token });
  alpha.listener.tokens = tokens;
  alpha.listener.release();

  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);
  const { attempts } = await alpha.delivery(vote);
  expect(attempts).toMatchObject([
    { code: 'bad-signature', revision: 1 },
    { code: 'acknowledged', revision: 2 },
  ]);
  expect(await showListener(deps, alpha.serverId)).toMatchObject({ state: 'active', pause: null });
});

it('resends a vote at its owner’s request, and keeps its timeline', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  await startWorker(deps.config);
  const vote = await alpha.cast('Steve');
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);
  const resent = await resendVote(deps, vote._id, 'test');
  expect(resent).toEqual({ kind: 'resent', from: 'delivered', mayArriveTwice: true });
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).attempts).toHaveLength(2), EVENTUALLY);
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);
  expect(await alpha.delivery(vote)).toMatchObject({
    attempts: [{ code: 'acknowledged' }, { code: 'acknowledged' }],
    events: [{ kind: 'resent' }],
    ends: { delivered: 2 },
  });
  expect(alpha.listener.votes).toHaveLength(2);
});
