import net from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Platform } from '../../src/platform.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { PATIENT } from '../support/patient.ts';
import { startWorker } from '../support/worker-process.ts';
import { addGameServer, castingPlatform, type GameServer, madeBy } from './game-server.ts';

/** Two workers, and which of them makes the first attempt. */
async function workersOf(platform: Platform) {
  const workers = await Promise.all([startWorker(platform.config), startWorker(platform.config)]);
  return {
    async senderOf(server: GameServer, vote: Vote) {
      const { attempts } = await server.delivery(vote);
      const [sender, other] = madeBy(attempts[0], workers[0]) ? workers : workers.toReversed();
      if (!sender || !other || !madeBy(attempts[0], sender))
        throw new Error('neither worker made the attempt');
      return { sender, other };
    },
  };
}

it('delivers a vote by another worker when the first is killed before the frame was written', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  alpha.listener.behaviour = { onConnect: 'silence' };
  const workers = await workersOf(platform);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.connections === 1, { ...PATIENT, interval: 2 });
  const { sender, other } = await workers.senderOf(alpha, vote);
  await sender.kill();
  alpha.listener.behaviour = {};

  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), PATIENT);
  const { attempts, ends } = await alpha.delivery(vote);
  expect(attempts).toMatchObject([
    { code: 'lease-ran-out', class: 'ambiguous' },
    { code: 'acknowledged', class: 'delivered' },
  ]);
  // Nobody knows how far a lost attempt got.
  expect(attempts[0]).not.toHaveProperty('reached');
  expect(madeBy(attempts[0], sender) && madeBy(attempts[1], other)).toBe(true);
  expect(ends).toEqual({ ambiguous: 1, delivered: 1 });
  expect(alpha.listener.votes).toHaveLength(1);
});

it('sends a vote twice, and says why, when a worker is killed after the frame was written', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  alpha.listener.hold();
  const workers = await workersOf(platform);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.held === 1, { ...PATIENT, interval: 2 });
  const { sender } = await workers.senderOf(alpha, vote);
  await sender.kill();
  alpha.listener.release();

  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), PATIENT);
  expect(await alpha.delivery(vote)).toMatchObject({
    attemptCount: 2,
    ends: { ambiguous: 1, delivered: 1 },
    attempts: [{ code: 'lease-ran-out' }, { code: 'acknowledged' }],
  });
  expect(alpha.listener.votes.map(({ uuid }) => uuid)).toEqual([vote._id.toString(), vote._id.toString()]);
});

it('sends the votes that a killed worker had not begun once only', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  alpha.listener.hold();
  const workers = await workersOf(platform);
  const votes = [];
  for (let n = 0; n < 12; n += 1) votes.push(await alpha.cast(`player ${n}`));
  await vi.waitUntil(() => alpha.listener.held === 4, { ...PATIENT, interval: 2 });
  const { sender } = await workers.senderOf(alpha, votes[0] as Vote);
  await sender.kill();
  alpha.listener.release();

  await vi.waitUntil(async () => (await alpha.count('delivered')) === votes.length, PATIENT);
  for (const vote of votes) {
    const { ends } = await alpha.delivery(vote);
    const receipts = alpha.listener.votes.filter(({ uuid }) => uuid === vote._id.toString()).length;
    expect(receipts).toBe(1 + (ends.ambiguous ?? 0));
  }
  expect(alpha.listener.votes).toHaveLength(votes.length + 4);
});

/** A far end that greets when it is told to, and counts the bytes it is sent. */
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

it('never sends after its lease: a worker that stood still gives up what another took over', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  const slow = await greeterOnCommand();
  await alpha.set({ port: slow.port });
  const workers = await workersOf(platform);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => slow.sockets.length === 1, { ...PATIENT, interval: 2 });
  const { sender, other } = await workers.senderOf(alpha, vote);
  sender.pause();
  // What it would have waited for lies ready when it goes on.
  slow.greet();
  await alpha.set();
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), PATIENT);

  sender.resume();
  await vi.waitUntil(() => slow.sockets[0]?.destroyed || slow.sockets[0]?.readableEnded, PATIENT);
  expect(slow.heard.bytes).toBe(0);
  const { attempts } = await alpha.delivery(vote);
  expect(attempts).toMatchObject([{ code: 'lease-ran-out' }, { code: 'acknowledged' }]);
  expect(madeBy(attempts[1], other)).toBe(true);
  expect(alpha.listener.votes).toHaveLength(1);

  // And it works on as before.
  await other.stop();
  const next = await alpha.cast('Alex');
  await vi.waitFor(async () => expect((await alpha.delivery(next)).state).toBe('delivered'), PATIENT);
});

it('takes an answer that was read too late as good news', async () => {
  // A retry after a minute: the vote waits for it when the old answer is read.
  const platform = await castingPlatform({ DELIVERY_SCHEDULE: '0s,60s' });
  const alpha = await addGameServer(platform);
  alpha.listener.hold();
  const workers = await workersOf(platform);
  const vote = await alpha.cast('Steve');
  await vi.waitUntil(() => alpha.listener.held === 1, { ...PATIENT, interval: 2 });
  const { sender, other } = await workers.senderOf(alpha, vote);
  sender.pause();
  alpha.listener.release();
  await other.waitForEvent('delivery.lost', ({ voteId }) => voteId === vote._id.toString());
  expect(await alpha.delivery(vote)).toMatchObject({ state: 'waiting', ambiguousEnds: 1 });

  sender.resume();
  await vi.waitFor(async () => expect((await alpha.delivery(vote)).state).toBe('delivered'), PATIENT);
  expect(await alpha.delivery(vote)).toMatchObject({
    attempts: [{ code: 'acknowledged', reached: 'acknowledged', lateAt: expect.any(Date) }],
    ends: { ambiguous: 0, delivered: 1 },
  });
  expect(alpha.listener.votes).toHaveLength(1);
});
