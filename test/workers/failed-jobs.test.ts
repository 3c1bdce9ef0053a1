import { type Processor, Worker } from 'bullmq';
import { ObjectId, UUID } from 'mongodb';
import { expect, it, onTestFinished, vi } from 'vitest';
import { after, DAY } from '../../src/clock.ts';
import { addDays, dayOf } from '../../src/periods/period-marks.ts';
import { LeaseLostError } from '../../src/periods/work-lease.ts';
import type { Platform } from '../../src/platform.ts';
import { QUEUE_NAMES, type QueueName, queuePrefix } from '../../src/queues.ts';
import { openRedis } from '../../src/redis.ts';
import { failingForPeopleOnly } from '../../workers/job-ends.ts';
import { PATIENT } from '../support/patient.ts';
import { startMongod } from '../support/services.ts';
import { testPlatform } from '../support/test-platform.ts';
import { startWorker } from '../support/worker-process.ts';
import { addGameServer, castingPlatform } from './game-server.ts';

/** How many jobs of a queue are in the failed set, and why the newest is. */
async function failedIn({ queues }: Platform, name: QueueName) {
  const [newest] = await queues[name].getFailed(0, 0);
  return { count: await queues[name].getFailedCount(), reason: newest?.failedReason };
}

/** Works on a queue with `process` in this process, as a worker process does. */
function workOn(
  platform: Platform,
  name: QueueName,
  process: Processor,
  stop = new AbortController().signal,
): void {
  const { config, log } = platform;
  const connection = openRedis(config.REDIS_URL, log);
  const prefix = queuePrefix(config, name);
  const processor = failingForPeopleOnly(platform, name, process, stop);
  const worker = new Worker(name, processor, { connection, prefix });
  worker.on('error', () => undefined);
  onTestFinished(async () => {
    await worker.close();
    connection.disconnect();
  });
}

it('leaves no failed job in any queue when mongod is away in the middle, and does all of the work', async () => {
  const mongod = await startMongod();
  onTestFinished(() => mongod.stop());
  const platform = await castingPlatform({ MONGODB_URI: `${mongod.uri}/outage` });
  const { servers, queues, voteExclusions, periodMarks, workLeases, clock } = platform;
  const alpha = await addGameServer(platform);
  const { serverId } = alpha;
  const listener = await platform.listeners.findOne({ serverId });
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
  const payloads = {
    'forward-votes': { serverId: serverId.toHexString(), listenerId: listener._id.toHexString() },
    'probe-servers': { serverId: serverId.toHexString() },
    'clean-up': { day },
    'aggregate-day': { day },
    'repair-counters': { day },
    'recompute-ranks': {},
    'find-unusual-votes': {},
    'send-mail': { mailId: 'a mail' },
    'tell-owners': {},
    'exclude-votes': { exclusionId: exclusionId.toHexString() },
  };

  const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'votes@example.org' };
  const worker = await startWorker(platform.config, { env: mail });
  await mongod.kill();
  for (const name of QUEUE_NAMES) {
    expect(await platform.producer.add(name, payloads[name] as never), name).toBe(true);
  }
  for (const queue of QUEUE_NAMES) {
    await worker.waitForEvent('job.postponed', (line) => line.queue === queue);
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
  }, PATIENT);
  await vi.waitFor(async () => {
    for (const name of QUEUE_NAMES) {
      const { active, waiting, delayed } = await queues[name].getJobCounts();
      expect({ active, waiting, delayed }, name).toEqual({ active: 0, waiting: 0, delayed: 0 });
    }
  }, PATIENT);
  for (const name of QUEUE_NAMES) expect(await failedIn(platform, name), name).toMatchObject({ count: 0 });
}, 90_000);

it('postpones work whose lease another run took', async () => {
  const platform = await testPlatform();
  let runs = 0;
  workOn(platform, 'recompute-ranks', async () => {
    runs += 1;
    throw new LeaseLostError('recompute-ranks');
  });
  await vi.waitUntil(() => platform.producer.add('recompute-ranks', {}), PATIENT);
  await vi.waitUntil(async () => (await platform.queues['recompute-ranks'].getDelayedCount()) === 1, PATIENT);
  expect(runs).toBe(1);
  expect(await failedIn(platform, 'recompute-ranks')).toMatchObject({ count: 0 });
});

it('hands what its own stop cuts short to another worker, under the same name', async () => {
  const platform = await testPlatform();
  const stop = new AbortController();
  const begun: string[] = [];
  workOn(
    platform,
    'aggregate-day',
    async (job) => {
      begun.push(job.name);
      if (begun.length > 1) return;
      stop.abort();
      stop.signal.throwIfAborted();
    },
    stop.signal,
  );
  await vi.waitUntil(
    () => platform.producer.add('aggregate-day', { day: '2026-11-20' }, { subject: '2026-11-20' }),
    PATIENT,
  );
  await vi.waitFor(() => expect(begun).toEqual(Array(2).fill('Aggregate day: 2026-11-20')), PATIENT);
  expect(await failedIn(platform, 'aggregate-day')).toMatchObject({ count: 0 });
});

it('keeps a fault of ours as failed, with its stack and a sentence that says what to do', async () => {
  const platform = await testPlatform();
  workOn(platform, 'clean-up', async () => {
    throw new TypeError('x is not a function');
  });
  await vi.waitUntil(() => platform.producer.add('clean-up', { day: '2026-11-20' }), PATIENT);
  await vi.waitFor(async () => {
    expect(await failedIn(platform, 'clean-up')).toEqual({
      count: 1,
      reason:
        'A fault of Tallyport itself: x is not a function. Report it with the stack trace below; the work is tried again by itself.',
    });
  }, PATIENT);
  const [job] = await platform.queues['clean-up'].getFailed();
  expect(job?.stacktrace?.join('\n')).toContain('failed-jobs.test.ts');
});

it.each([
  ['forward-votes', { serverId: 'x' }, /^This job was not made by Tallyport: .* Remove it/],
  ['aggregate-day', { day: '2020-01-01' }, /^2020-01-01 is too old .* Remove this job; the scheduler makes/],
] as const)('says what to do about a job of %s with %j', async (name, payload, words) => {
  const platform = await castingPlatform();
  const worker = await startWorker(platform.config, { args: [name] });
  await platform.queues[name].add('by hand', payload);
  expect(await worker.waitForEvent('job.failed')).toMatchObject({ reason: expect.stringMatching(words) });
  expect(await failedIn(platform, name)).toMatchObject({ count: 1 });
});

it('says what to do when MongoDB refuses an operation', async () => {
  const platform = await testPlatform();
  workOn(platform, 'recompute-ranks', async () => {
    await platform.mongo.db.command({ create: 'servers' });
  });
  await vi.waitUntil(() => platform.producer.add('recompute-ranks', {}), PATIENT);
  await vi.waitFor(async () => {
    const { reason } = await failedIn(platform, 'recompute-ranks');
    expect(reason).toMatch(/^MongoDB refused an operation: .*already exists.* Look into its log/s);
  }, PATIENT);
});
