import { expect, it, onTestFinished, vi } from 'vitest';
import { startMongod } from '../support/services.ts';
import { startWorker } from '../support/worker-process.ts';
import { addGameServer, castingPlatform, type GameServer, PATIENT } from './game-server.ts';

/** A mongod of this test alone, which may be killed. */
async function ownMongod() {
  const mongod = await startMongod();
  onTestFinished(async () => {
    mongod.resume();
    await mongod.stop();
  });
  return mongod;
}

/** Every vote has arrived; more than once only where its timeline says that nobody knew. */
async function allArrive(alpha: GameServer, votes: Awaited<ReturnType<GameServer['cast']>>[]) {
  await vi.waitUntil(async () => (await alpha.count('delivered').catch(() => 0)) === votes.length, {
    timeout: 50_000,
    interval: 50,
  });
  for (const vote of votes) {
    const { ends, attempts } = await alpha.delivery(vote);
    const receipts = alpha.listener.votes.filter(({ uuid }) => uuid === vote._id.toString()).length;
    if (receipts > 1)
      console.log(
        receipts,
        attempts.map((a) => [a.code, a.durationMs]),
      );
    expect(receipts).toBeGreaterThanOrEqual(1);
    expect(receipts).toBeLessThanOrEqual(1 + (ends.ambiguous ?? 0));
  }
}

it('goes on by itself after mongod was killed', async () => {
  const mongod = await ownMongod();
  const platform = await castingPlatform({ MONGODB_URI: `${mongod.uri}/outage` });
  const alpha = await addGameServer(platform);
  const worker = await startWorker(platform.config);
  alpha.listener.behaviour = { answerDelayMs: 100 };
  const votes = [];
  for (let n = 0; n < 30; n += 1) votes.push(await alpha.cast(`player ${n}`));
  await vi.waitUntil(() => alpha.listener.votes.length > 8, { ...PATIENT, interval: 2 });
  await mongod.kill();
  await new Promise((r) => setTimeout(r, 1000));
  const t = performance.now();
  await mongod.restart();
  await allArrive(alpha, votes);
  console.log(
    'after',
    performance.now() - t,
    alpha.listener.votes.length,
    worker.lines.filter((l) => l.event !== 'delivery.attempt').map((l) => JSON.stringify(l)),
  );
}, 80_000);

it('goes on by itself after mongod stood still', async () => {
  const mongod = await ownMongod();
  const platform = await castingPlatform({ MONGODB_URI: `${mongod.uri}/outage` });
  const alpha = await addGameServer(platform);
  const worker = await startWorker(platform.config);
  alpha.listener.behaviour = { answerDelayMs: 100 };
  const votes = [];
  for (let n = 0; n < 30; n += 1) votes.push(await alpha.cast(`player ${n}`));
  await vi.waitUntil(() => alpha.listener.votes.length > 8, { ...PATIENT, interval: 2 });
  mongod.pause();
  await new Promise((r) => setTimeout(r, 4000));
  const t = performance.now();
  mongod.resume();
  await allArrive(alpha, votes);
  console.log(
    'after',
    performance.now() - t,
    alpha.listener.votes.length,
    worker.lines.filter((l) => l.event !== 'delivery.attempt').map((l) => JSON.stringify(l)),
  );
  mongod.pause();
  console.log(await worker.stop(), worker.lines.slice(-3), worker.errors);
}, 80_000);

it('keeps the answers that came while mongod was away, so no vote is sent twice', async () => {
  const mongod = await ownMongod();
  const platform = await castingPlatform({ MONGODB_URI: `${mongod.uri}/outage` });
  const alpha = await addGameServer(platform);
  const worker = await startWorker(platform.config);
  alpha.listener.behaviour = {};
  alpha.listener.hold();
  const votes = [];
  for (let n = 0; n < 6; n += 1) votes.push(await alpha.cast(`player ${n}`));
  await vi.waitUntil(() => alpha.listener.held === 4, { ...PATIENT, interval: 2 });
  await mongod.kill();
  alpha.listener.release();
  await worker.waitForEvent('delivery.not_recorded');
  await mongod.restart();
  await allArrive(alpha, votes);
  expect(alpha.listener.votes).toHaveLength(6);
  console.log(worker.lines.map((l) => JSON.stringify(l)));
}, 80_000);
