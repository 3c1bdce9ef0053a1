import { expect, it, vi } from 'vitest';
import type { Vote } from '../../src/votes/vote.ts';
import { drainHere } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, allArrive, castingDeps, castMany, madeBy } from './game-server.ts';

/** Workers wait for listeners as long as the settings allow, so no attempt ends because of the listener's timeout. */
const WAITING_SENDERS = { LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '34000' };

it('gives back unsent votes without counting an attempt, and stops at once', async () => {
  const deps = await castingDeps(WAITING_SENDERS);
  const alpha = await addGameServer(deps);
  alpha.listener.behaviour = { onConnect: 'silence' };
  const worker = await startWorker(deps.config);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.connections === 1, EVENTUALLY);

  await worker.stop();
  // If it had waited for the listener, the code would be a timeout.
  expect(await alpha.delivery(vote)).toMatchObject({
    state: 'waiting',
    attemptCount: 0,
    step: 0,
    attempts: [{ code: 'stopped-before-written', class: 'none' }],
  });

  alpha.listener.behaviour = {};
  await startWorker(deps.config);
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);
  expect(alpha.listener.votes).toHaveLength(1);
});

it('another worker gets the waiting votes at once', async () => {
  // Without a new job, the sweep would find them after a minute.
  const deps = await castingDeps({ ...WAITING_SENDERS, RELAY_INTERVAL_MS: '60000' });
  const alpha = await addGameServer(deps);
  const workers = await Promise.all([startWorker(deps.config), startWorker(deps.config)]);
  await allArrive(alpha, [await alpha.cast('First')]);
  alpha.listener.stall();
  const votes = await castMany(alpha, 10);
  await vi.waitUntil(() => alpha.listener.held === 4, EVENTUALLY);
  const [first] = (await alpha.delivery(votes[0] as Vote)).attempts;
  const sender = workers.find((worker) => madeBy(first, worker));
  const stopped = sender?.stop();
  alpha.listener.release();
  await vi.waitUntil(async () => (await alpha.count('delivered')) === 11, EVENTUALLY);
  expect(alpha.listener.votes).toHaveLength(11);
  await stopped;
});

it('waits for the answers to the votes that it has sent', async () => {
  const deps = await castingDeps(WAITING_SENDERS);
  const alpha = await addGameServer(deps);
  alpha.listener.stall();
  const worker = await startWorker(deps.config);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.held === 1, EVENTUALLY);
  const stopped = worker.stop();
  alpha.listener.release();

  await stopped;
  expect(await alpha.delivery(vote)).toMatchObject({ state: 'delivered', attemptCount: 1 });
});

it('waits for the last answers only for a limited time, and records an unknown outcome', async () => {
  const deps = await castingDeps(WAITING_SENDERS);
  const alpha = await addGameServer(deps);
  alpha.listener.stall();
  const vote = await alpha.cast('Steve');
  const stop = new AbortController();
  const waitNoLonger = new AbortController();
  const draining = drainHere(deps, alpha.serverId, {
    stop: stop.signal,
    waitNoLonger: waitNoLonger.signal,
  });
  await vi.waitUntil(() => alpha.listener.held === 1, EVENTUALLY);
  stop.abort();
  waitNoLonger.abort();
  expect(await draining).toEqual({ kind: 'stopped' });
  expect(await alpha.delivery(vote)).toMatchObject({
    state: 'waiting',
    ambiguousEnds: 1,
    attempts: [{ code: 'stopped-while-waiting', class: 'ambiguous', reached: 'written' }],
  });
});
