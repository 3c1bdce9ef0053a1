import { type Processor, Worker } from 'bullmq';
import { expect, it, onTestFinished, vi } from 'vitest';
import { LeaseLostError } from '../../src/platform/periods/work-lease.ts';
import { type QueueName, queuePrefix } from '../../src/platform/queues.ts';
import { openRedis } from '../../src/platform/redis.ts';
import type { Platform } from '../../src/process/app-deps.ts';
import { withJobErrors } from '../../workers/job-errors.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testPlatform } from '../support/test-platform.ts';
import { startWorker } from '../support/workers.ts';
import { castingPlatform } from './game-server.ts';

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
  const processor = withJobErrors(platform, name, process, stop);
  const worker = new Worker(name, processor, { connection, prefix });
  worker.on('error', () => undefined);
  onTestFinished(async () => {
    await worker.close();
    connection.disconnect();
  });
}

it('postpones work whose lease another run took', async () => {
  const platform = await testPlatform();
  let runs = 0;
  workOn(platform, 'recompute-ranks', async () => {
    runs += 1;
    throw new LeaseLostError('recompute-ranks');
  });
  await vi.waitUntil(() => platform.producer.add('recompute-ranks', {}), EVENTUALLY);
  await vi.waitUntil(
    async () => (await platform.queues['recompute-ranks'].getDelayedCount()) === 1,
    EVENTUALLY,
  );
  expect(runs).toBe(1);
  expect(await failedIn(platform, 'recompute-ranks')).toMatchObject({ count: 0 });
});

it('adds a job again that its own stop interrupted, under the same name', async () => {
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
    EVENTUALLY,
  );
  await vi.waitFor(() => expect(begun).toEqual(Array(2).fill('Aggregate day: 2026-11-20')), EVENTUALLY);
  expect(await failedIn(platform, 'aggregate-day')).toMatchObject({ count: 0 });
});

it('keeps a job with an internal error as failed, with its stack and a sentence that says what to do', async () => {
  const platform = await testPlatform();
  workOn(platform, 'clean-up', async () => {
    throw new TypeError('x is not a function');
  });
  await vi.waitUntil(() => platform.producer.add('clean-up', { day: '2026-11-20' }), EVENTUALLY);
  await vi.waitFor(async () => {
    expect(await failedIn(platform, 'clean-up')).toEqual({
      count: 1,
      reason:
        'An error in Tallyport itself: x is not a function. Report it with the stack trace below; the work is retried automatically.',
    });
  }, EVENTUALLY);
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
  await vi.waitUntil(() => platform.producer.add('recompute-ranks', {}), EVENTUALLY);
  await vi.waitFor(async () => {
    const { reason } = await failedIn(platform, 'recompute-ranks');
    expect(reason).toMatch(/^MongoDB refused an operation: .*already exists.* Check its log/s);
  }, EVENTUALLY);
});
