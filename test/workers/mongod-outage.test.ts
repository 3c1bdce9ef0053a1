import { expect, it, onTestFinished, vi } from 'vitest';
import { SECOND } from '../../src/clock.ts';
import type { Platform } from '../../src/platform.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { PATIENT } from '../support/patient.ts';
import { startMongod, type TestService } from '../support/services.ts';
import { startWorker } from '../support/worker-process.ts';
import { addGameServer, castingPlatform, type GameServer } from './game-server.ts';

/** A mongod of this test alone, and a platform on it. */
async function platformOnOwnMongod(
  env: Record<string, string> = {},
): Promise<{ mongod: TestService; platform: Platform }> {
  const mongod = await startMongod();
  onTestFinished(() => mongod.stop());
  return { mongod, platform: await castingPlatform({ MONGODB_URI: `${mongod.uri}/outage`, ...env }) };
}

async function castMany(server: GameServer, count: number): Promise<Vote[]> {
  const votes = [];
  for (let n = 0; n < count; n += 1) votes.push(await server.cast(`player ${n}`));
  return votes;
}

/**
 * Waits until every vote has arrived: more than once only where its timeline says that nobody knew. No job is left
 * as failed, since nobody has to do anything.
 */
async function allArrive({ queues }: Platform, server: GameServer, votes: Vote[]): Promise<void> {
  const arrived = async () => (await server.count('delivered').catch(() => 0)) === votes.length;
  await vi.waitUntil(arrived, PATIENT);
  for (const vote of votes) {
    const { ends } = await server.delivery(vote);
    const receipts = server.listener.votes.filter(({ uuid }) => uuid === vote._id.toString()).length;
    expect(receipts).toBeGreaterThanOrEqual(1);
    expect(receipts).toBeLessThanOrEqual(1 + (ends.ambiguous ?? 0));
  }
  expect(await queues['forward-votes'].getFailedCount()).toBe(0);
}

it('goes on by itself after mongod was killed in the middle of deliveries', async () => {
  const { mongod, platform } = await platformOnOwnMongod();
  const alpha = await addGameServer(platform);
  const worker = await startWorker(platform.config);
  alpha.listener.behaviour = { answerDelayMs: 100 };
  const votes = await castMany(alpha, 30);
  await vi.waitUntil(() => alpha.listener.votes.length > 8, { ...PATIENT, interval: 2 });
  await mongod.kill();
  await worker.waitForEvent('delivery.not_recorded');
  expect(alpha.listener.votes.length).toBeLessThan(votes.length);
  await mongod.restart();
  await allArrive(platform, alpha, votes);
});

it('goes on by itself after mongod stood still for longer than a lease', async () => {
  const { mongod, platform } = await platformOnOwnMongod();
  const alpha = await addGameServer(platform);
  await startWorker(platform.config);
  alpha.listener.behaviour = { answerDelayMs: 100 };
  const votes = await castMany(alpha, 30);
  await vi.waitUntil(() => alpha.listener.votes.length > 8, { ...PATIENT, interval: 2 });
  mongod.pause();
  const stoodStillAt = performance.now();
  await vi.waitUntil(() => performance.now() - stoodStillAt > platform.config.LEASE_MS, PATIENT);
  expect(alpha.listener.votes.length).toBeLessThan(votes.length);
  mongod.resume();
  await allArrive(platform, alpha, votes);
});

it('keeps the answers that came while mongod was dead, so that no vote is sent twice', async () => {
  // Four answers are held at once, however slow the machine is.
  const patient = { LISTENER_TIMEOUT_MS: '5000', LEASE_MS: '22000' };
  const { mongod, platform } = await platformOnOwnMongod(patient);
  const alpha = await addGameServer(platform);
  const worker = await startWorker(platform.config);
  alpha.listener.hold();
  const votes = await castMany(alpha, 6);
  await vi.waitUntil(() => alpha.listener.held === 4, { ...PATIENT, interval: 2 });
  await mongod.kill();
  alpha.listener.release();
  expect(await worker.waitForEvent('delivery.not_recorded')).toMatchObject({ code: 'acknowledged' });
  await mongod.restart();
  await allArrive(platform, alpha, votes);
  expect(alpha.listener.votes).toHaveLength(votes.length);
});

it('stops in time while mongod stands still', async () => {
  const { mongod, platform } = await platformOnOwnMongod();
  const worker = await startWorker(platform.config);
  mongod.pause();
  const end = await worker.stop();
  mongod.resume();
  expect(end).toMatchObject({ code: 0 });
  expect(end.afterMs).toBeLessThan(15 * SECOND);
});

it('stops in time while the record of an end waits for a mongod that stands still', async () => {
  const patient = { LISTENER_TIMEOUT_MS: '5000', LEASE_MS: '22000' };
  const { mongod, platform } = await platformOnOwnMongod(patient);
  const alpha = await addGameServer(platform);
  const worker = await startWorker(platform.config);
  alpha.listener.hold();
  await castMany(alpha, 2);
  await vi.waitUntil(() => alpha.listener.held === 2, { ...PATIENT, interval: 2 });
  mongod.pause();
  alpha.listener.release();
  const end = await worker.stop();
  mongod.resume();
  expect(end).toMatchObject({ code: 0 });
});
