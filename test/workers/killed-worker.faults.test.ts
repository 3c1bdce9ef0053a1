import net from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { removeListener } from '../../src/delivery/change-listener.ts';
import { sweepDueWork } from '../../src/delivery/sweep.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { spawnWorker } from '../support/worker-process.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, allArrive, castingDeps, castMany, madeBy, SHORT_WAITS } from './game-server.ts';

it('another worker delivers a vote if the first one is killed before the frame was written', async () => {
  const deps = await castingDeps(SHORT_WAITS);
  const alpha = await addGameServer(deps);
  alpha.listener.behaviour = { onConnect: 'silence' };
  const sender = await spawnWorker(deps.config);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.connections === 1, { ...EVENTUALLY, interval: 2 });
  await sender.kill();
  const other = await startWorker(deps.config);
  alpha.listener.behaviour = {};

  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);
  const { attempts, ends } = await alpha.delivery(vote);
  expect(attempts).toMatchObject([
    { code: 'lease-ran-out', class: 'ambiguous' },
    { code: 'acknowledged', class: 'delivered' },
  ]);
  // It is unknown how far a lost attempt got.
  expect(attempts[0]).not.toHaveProperty('reached');
  expect(madeBy(attempts[0], sender) && madeBy(attempts[1], other)).toBe(true);
  expect(ends).toEqual({ ambiguous: 1, delivered: 1 });
  expect(alpha.listener.votes).toHaveLength(1);
});

it('sends a vote twice, and says why, if a worker is killed after the frame was written', async () => {
  const deps = await castingDeps(SHORT_WAITS);
  const alpha = await addGameServer(deps);
  alpha.listener.stall();
  const sender = await spawnWorker(deps.config);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.held === 1, { ...EVENTUALLY, interval: 2 });
  await sender.kill();
  await startWorker(deps.config);
  alpha.listener.release();

  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);
  expect(await alpha.delivery(vote)).toMatchObject({
    attemptCount: 2,
    ends: { ambiguous: 1, delivered: 1 },
    attempts: [{ code: 'lease-ran-out' }, { code: 'acknowledged' }],
  });
  expect(alpha.listener.votes.map(({ uuid }) => uuid)).toEqual([vote._id.toString(), vote._id.toString()]);
});

it('sends votes with which a killed worker had not begun only once', async () => {
  const deps = await castingDeps(SHORT_WAITS);
  const alpha = await addGameServer(deps);
  const sender = await spawnWorker(deps.config);
  const first = await alpha.cast('First');
  await allArrive(alpha, [first]);
  alpha.listener.stall();
  const votes = await castMany(alpha, 12);
  await vi.waitUntil(() => alpha.listener.held === 4, { ...EVENTUALLY, interval: 2 });
  await sender.kill();
  await startWorker(deps.config);
  alpha.listener.release();

  await allArrive(alpha, [first, ...votes]);
  expect(alpha.listener.votes).toHaveLength(1 + votes.length + 4);
});

/** A listener that greets when the test says so, and counts the received bytes. */
async function greeterOnCommand() {
  const sockets: net.Socket[] = [];
  const heard = { bytes: 0 };
  const server = net.createServer((socket) => {
    sockets.push(socket);
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        heard.bytes += bytes.length;
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    sockets,
    heard,
    greet: () => sockets[0]?.write('VOTIFIER 2 challenge\n'),
  };
}

it('never sends after its lease has expired: a resumed worker gives up votes that another one has taken', async () => {
  const deps = await castingDeps(SHORT_WAITS);
  const alpha = await addGameServer(deps);
  const slow = await greeterOnCommand();
  await alpha.set({ port: slow.port });
  const sender = await spawnWorker(deps.config);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => slow.sockets.length === 1, { ...EVENTUALLY, interval: 2 });
  sender.pause();
  const other = await startWorker(deps.config);
  // When the worker continues, the data that it was waiting for has already arrived.
  slow.greet();
  await alpha.set();
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);

  sender.resume();
  await vi.waitUntil(() => slow.sockets[0]?.destroyed || slow.sockets[0]?.readableEnded, EVENTUALLY);
  expect(slow.heard.bytes).toBe(0);
  // If the machine is busy, the lease of the other worker may expire before it writes. An attempt under such a lease is
  // left out.
  const attempts = (await alpha.delivery(vote)).attempts.filter(({ code }) => code !== 'our-fault');
  expect(attempts).toMatchObject([{ code: 'lease-ran-out' }, { code: 'acknowledged' }]);
  expect(madeBy(attempts[1], other)).toBe(true);
  expect(alpha.listener.votes).toHaveLength(1);

  // The worker goes on working.
  await other.stop();
  const next = await alpha.cast('Alex');
  await vi.waitFor(async () => expect((await alpha.delivery(next)).state).toBe('delivered'), EVENTUALLY);
});

it('accepts an acknowledgement that is read too late', async () => {
  // The retry comes after a minute, so the vote is waiting for it when the old answer is read.
  const deps = await castingDeps({ ...SHORT_WAITS, DELIVERY_SCHEDULE: '0s,60s' });
  const alpha = await addGameServer(deps);
  alpha.listener.stall();
  const sender = await spawnWorker(deps.config);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.held === 1, { ...EVENTUALLY, interval: 2 });
  sender.pause();
  const other = await startWorker(deps.config);
  alpha.listener.release();
  await other.waitForEvent('delivery.lost', ({ voteId }) => voteId === vote._id.toString());
  expect(await alpha.delivery(vote)).toMatchObject({ state: 'waiting', ambiguousEnds: 1 });

  sender.resume();
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), EVENTUALLY);
  expect(await alpha.delivery(vote)).toMatchObject({
    attempts: [{ code: 'acknowledged', reached: 'acknowledged', lateAt: expect.any(Date) }],
    ends: { ambiguous: 0, delivered: 1 },
  });
  expect(alpha.listener.votes).toHaveLength(1);
});

it('ends the attempts of a dead worker if the listener was removed meanwhile', async () => {
  const deps = await castingDeps(SHORT_WAITS);
  const alpha = await addGameServer(deps);
  alpha.listener.stall();
  const worker = await spawnWorker(deps.config);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.held === 1, { ...EVENTUALLY, interval: 2 });
  await worker.kill();
  await removeListener(deps, alpha.serverId, 'test');
  await vi.waitFor(async () => {
    await sweepDueWork(deps);
    expect((await alpha.delivery(vote)).state).toBe('none');
  }, EVENTUALLY);
  expect(await alpha.delivery(vote)).toMatchObject({
    attempts: [{ code: 'lease-ran-out' }],
    events: [{ kind: 'listener-removed' }],
  });
  expect(await sweepDueWork(deps)).toEqual({ woken: 0, expired: 0, removed: 0 });
});
