import { randomUUID } from 'node:crypto';
import { ObjectId, UUID } from 'mongodb';
import { expect, it, onTestFinished, vi } from 'vitest';
import { after, DAY } from '../../src/platform/clock.ts';
import { addDays, dayOf } from '../../src/platform/periods/period-marks.ts';
import { QUEUE_NAMES, QUEUES, type QueueName } from '../../src/platform/queues.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startMongod, type TestService } from '../support/services.ts';
import { spawnWorker } from '../support/worker-process.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, allArrive, castingDeps, castMany, SHORT_WAITS } from './game-server.ts';

/** A mongod for this test alone, and a process's dependencies on it. */
async function depsOnOwnMongod(
  env: Record<string, string> = {},
): Promise<{ mongod: TestService; deps: AppDeps }> {
  const mongod = await startMongod();
  onTestFinished(() => mongod.stop());
  return { mongod, deps: await castingDeps({ MONGODB_URI: `${mongod.uri}/outage`, ...env }) };
}

it('continues by itself after mongod was killed in the middle of deliveries', async () => {
  const { mongod, deps } = await depsOnOwnMongod(SHORT_WAITS);
  const alpha = await addGameServer(deps);
  const worker = await startWorker(deps.config);
  alpha.listener.behaviour = { answerDelayMs: 100 };
  const votes = await castMany(alpha, 30);
  await vi.waitUntil(() => alpha.listener.votes.length > 8, { ...EVENTUALLY, interval: 2 });
  await mongod.kill();
  await worker.waitForEvent('delivery.not_recorded');
  expect(alpha.listener.votes.length).toBeLessThan(votes.length);
  await mongod.restart();
  await allArrive(alpha, votes);
  expect(await deps.queues['forward-votes'].getFailedCount()).toBe(0);
});

it('continues by itself after mongod was suspended for longer than a lease', async () => {
  const { mongod, deps } = await depsOnOwnMongod(SHORT_WAITS);
  const alpha = await addGameServer(deps);
  await startWorker(deps.config);
  alpha.listener.behaviour = { answerDelayMs: 100 };
  const votes = await castMany(alpha, 30);
  await vi.waitUntil(() => alpha.listener.votes.length > 8, { ...EVENTUALLY, interval: 2 });
  await mongod.pause();
  const stoodStillAt = performance.now();
  await vi.waitUntil(() => performance.now() - stoodStillAt > deps.config.LEASE_MS, EVENTUALLY);
  expect(alpha.listener.votes.length).toBeLessThan(votes.length);
  mongod.resume();
  await allArrive(alpha, votes);
  expect(await deps.queues['forward-votes'].getFailedCount()).toBe(0);
});

it('stores the answers that arrived while mongod was dead, so that no vote is sent twice', async () => {
  const { mongod, deps } = await depsOnOwnMongod();
  const alpha = await addGameServer(deps);
  const worker = await startWorker(deps.config);
  const votes = [await alpha.cast('First')];
  await allArrive(alpha, votes);
  alpha.listener.stall();
  votes.push(...(await castMany(alpha, 6)));
  await vi.waitUntil(() => alpha.listener.held === 4, { ...EVENTUALLY, interval: 2 });
  await mongod.kill();
  alpha.listener.release();
  expect(await worker.waitForEvent('delivery.not_recorded')).toMatchObject({ code: 'acknowledged' });
  await mongod.restart();
  await allArrive(alpha, votes);
  expect(await deps.queues['forward-votes'].getFailedCount()).toBe(0);
  expect(alpha.listener.votes).toHaveLength(votes.length);
});

it('stops in time while mongod is suspended', async () => {
  const { mongod, deps } = await depsOnOwnMongod();
  const worker = await spawnWorker(deps.config);
  await mongod.pause();
  const end = await worker.stop();
  mongod.resume();
  // A shutdown that takes too long exits with 1.
  expect(end).toMatchObject({ code: 0 });
});

it('stops in time while an outcome cannot be recorded because mongod is suspended', async () => {
  const { mongod, deps } = await depsOnOwnMongod();
  const alpha = await addGameServer(deps);
  const worker = await spawnWorker(deps.config);
  await allArrive(alpha, [await alpha.cast('First')]);
  alpha.listener.stall();
  await castMany(alpha, 2);
  await vi.waitUntil(() => alpha.listener.held === 2, { ...EVENTUALLY, interval: 2 });
  await mongod.pause();
  alpha.listener.release();
  const end = await worker.stop();
  mongod.resume();
  expect(end).toMatchObject({ code: 0 });
});

it('leaves no failed job in any queue after mongod was unavailable, and does all of the work', async () => {
  const { mongod, deps } = await depsOnOwnMongod(SHORT_WAITS);
  const { servers, queues, voteExclusions, periodMarks, workLeases, clock } = deps;
  const alpha = await addGameServer(deps);
  const { serverId } = alpha;
  const listener = await deps.listeners.findOne({ serverId });
  const server = await servers.findOneAndUpdate({ _id: serverId }, { $set: { game: 'minecraft' } });
  if (!listener || !server) throw new Error('not listed');
  const claim = { 'probe.claim': new UUID(), 'probe.claimSeconds': 300 };
  await servers.updateOne({ _id: serverId }, { $set: { ...claim, address: '127.0.0.1', port: 1 } });
  const vote = await alpha.cast('Steve');
  const exclusionId = new ObjectId();
  const now = clock.now();
  await voteExclusions.insertOne({
    _id: exclusionId,
    serverId,
    since: after(now, -DAY),
    until: now,
    tokenId: null,
    reason: 'test',
    by: 'test',
    at: now,
    state: 'excluding',
    days: [],
    votes: null,
    undone: null,
  });
  const day = addDays(dayOf(now), -2);
  const fields = {
    serverId: serverId.toHexString(),
    listenerId: listener._id.toHexString(),
    day,
    mailId: 'a mail',
    exclusionId: exclusionId.toHexString(),
    uploadId: exclusionId.toHexString(),
    subscriptionId: exclusionId.toHexString(),
    liveMessageId: exclusionId.toHexString(),
  };
  const question = {
    task: 'test-listener',
    serverId: fields.serverId,
    askId: randomUUID(),
    askedAt: new Date().toISOString(),
  } as const;
  /** A schema keeps the fields that it names. */
  const payloadOf = (name: QueueName) =>
    name === 'answer-now' ? question : QUEUES[name].payload.parse(fields);

  const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'votes@example.org' };
  const worker = await startWorker(deps.config, { env: mail });
  // A suspended mongod is noticed later than a dead one, so the jobs begin before it is noticed.
  await mongod.pause();
  for (const name of QUEUE_NAMES) {
    expect(await deps.producer.add(name, payloadOf(name) as never), name).toBe(true);
  }
  await mongod.kill();
  for (const queue of QUEUE_NAMES) {
    // A person is waiting, so the question is answered at once.
    if (queue === 'answer-now') await worker.waitForEvent('answer.failed');
    else await worker.waitForEvent('job.postponed', (line) => line.queue === queue);
  }
  await mongod.restart();

  await vi.waitFor(async () => {
    expect((await alpha.delivery(vote)).state).toBe('delivered');
    const marked = (await periodMarks.find({ period: day }).toArray()).map(({ work }) => work);
    expect(marked).toEqual(expect.arrayContaining(['clean-up', 'aggregate-day', 'repair-counters']));
    expect(await workLeases.findOne({ work: 'recompute-ranks' })).toMatchObject({
      completedAt: expect.any(Date),
    });
    expect(await voteExclusions.findOne({ _id: exclusionId })).toMatchObject({ state: 'excluded' });
    expect(await servers.findOne({ _id: serverId })).toMatchObject({
      probe: { claim: null, checkedAt: expect.any(Date) },
    });
  }, EVENTUALLY);
  await vi.waitFor(async () => {
    for (const name of QUEUE_NAMES) {
      const { active, waiting, delayed } = await queues[name].getJobCounts();
      expect({ active, waiting, delayed }, name).toEqual({ active: 0, waiting: 0, delayed: 0 });
    }
  }, EVENTUALLY);
  for (const name of QUEUE_NAMES) expect(await queues[name].getFailedCount(), name).toBe(0);
}, 90_000);
