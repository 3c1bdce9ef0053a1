import { type Processor, Worker } from 'bullmq';
import { ObjectId } from 'mongodb';
import { expect, it, onTestFinished, vi } from 'vitest';
import { LeaseLostError } from '../../src/platform/periods/work-lease.ts';
import { type QueueName, queuePrefix } from '../../src/platform/queues.ts';
import { openRedis } from '../../src/platform/redis.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { withJobErrors } from '../../workers/job-errors.ts';
import type { RunningJob, WorkContext } from '../../workers/queue-work.ts';
import { WORKS } from '../../workers/works.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testDeps } from '../support/test-deps.ts';
import { startWorker } from '../support/workers.ts';
import { castingDeps } from './game-server.ts';

/** How many jobs of a queue are in the failed set, and the reason of the newest one. */
async function failedIn({ queues }: AppDeps, name: QueueName) {
  const [newest] = await queues[name].getFailed(0, 0);
  return { count: await queues[name].getFailedCount(), reason: newest?.failedReason };
}

/** Works on a queue with `process` in this process, like a worker process. */
function workOn(
  deps: AppDeps,
  name: QueueName,
  process: Processor,
  stop = new AbortController().signal,
): void {
  const { config, log } = deps;
  const connection = openRedis(config.REDIS_URL, log);
  const prefix = queuePrefix(config, name);
  const processor = withJobErrors(deps, name, process, stop);
  const worker = new Worker(name, processor, { connection, prefix });
  worker.on('error', () => undefined);
  onTestFinished(async () => {
    await worker.close();
    connection.disconnect();
  });
}

it('postpones work if another run took its lease', async () => {
  const deps = await testDeps();
  let runs = 0;
  workOn(deps, 'recompute-ranks', async () => {
    runs += 1;
    throw new LeaseLostError('recompute-ranks');
  });
  await vi.waitUntil(() => deps.producer.add('recompute-ranks', {}), EVENTUALLY);
  await vi.waitUntil(async () => (await deps.queues['recompute-ranks'].getDelayedCount()) === 1, EVENTUALLY);
  expect(runs).toBe(1);
  expect(await failedIn(deps, 'recompute-ranks')).toMatchObject({ count: 0 });
});

it('adds a job again, under the same name, if it was interrupted because the worker stopped', async () => {
  const deps = await testDeps();
  const stop = new AbortController();
  const begun: string[] = [];
  workOn(
    deps,
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
    () => deps.producer.add('aggregate-day', { day: '2026-11-20' }, { subject: '2026-11-20' }),
    EVENTUALLY,
  );
  await vi.waitFor(() => expect(begun).toEqual(Array(2).fill('Aggregate day: 2026-11-20')), EVENTUALLY);
  expect(await failedIn(deps, 'aggregate-day')).toMatchObject({ count: 0 });
});

it('keeps a job with an internal error as failed, with its stack and a sentence that says what to do', async () => {
  const deps = await testDeps();
  workOn(deps, 'clean-up', async () => {
    throw new TypeError('x is not a function');
  });
  await vi.waitUntil(() => deps.producer.add('clean-up', { day: '2026-11-20' }), EVENTUALLY);
  await vi.waitFor(async () => {
    expect(await failedIn(deps, 'clean-up')).toEqual({
      count: 1,
      reason:
        'An error in Tallyport itself: x is not a function. Report it with the stack trace below; the work is retried automatically.',
    });
  }, EVENTUALLY);
  const [job] = await deps.queues['clean-up'].getFailed();
  expect(job?.stacktrace?.join('\n')).toContain('failed-jobs.test.ts');
});

it('the clean-up does its other steps if one fails, and then fails; its day stays due', async () => {
  const deps = await testDeps();
  const id = new ObjectId();
  const at = new Date(0);
  const entry = { _id: id, at, by: 'olivia@example.org', action: 'vote.resend', details: {} } as const;
  await deps.auditLog.insertOne(entry as never);
  const find = () => {
    throw new TypeError('broken');
  };
  const failing = { ...deps, pictures: { find } as never };
  const { signal: stop } = new AbortController();
  const run = WORKS['clean-up'].processor({ deps: failing, stop } as Partial<WorkContext> as WorkContext);
  await expect(run({ day: '2026-11-20' }, {} as RunningJob)).rejects.toThrow('broken');
  expect(await deps.auditLog.findOne({ _id: id })).toMatchObject({ by: '(removed)' });
  expect(await deps.periodMarks.countDocuments({})).toBe(0);
});

it.each([
  ['forward-votes', { serverId: 'x' }, /^This job was not made by Tallyport: .* Remove it/],
  ['aggregate-day', { day: '2020-01-01' }, /^2020-01-01 is too old .* Remove this job; the scheduler makes/],
] as const)('says what to do about a job of %s with %j', async (name, payload, words) => {
  const deps = await castingDeps();
  const worker = await startWorker(deps.config, { args: [name] });
  await deps.queues[name].add('by hand', payload);
  expect(await worker.waitForEvent('job.failed')).toMatchObject({ reason: expect.stringMatching(words) });
  expect(await failedIn(deps, name)).toMatchObject({ count: 1 });
});

it('says what to do when MongoDB refuses an operation', async () => {
  const deps = await testDeps();
  workOn(deps, 'recompute-ranks', async () => {
    await deps.mongo.db.command({ create: 'servers' });
  });
  await vi.waitUntil(() => deps.producer.add('recompute-ranks', {}), EVENTUALLY);
  await vi.waitFor(async () => {
    const { reason } = await failedIn(deps, 'recompute-ranks');
    expect(reason).toMatch(/^MongoDB refused an operation: .*already exists.* Check its log/s);
  }, EVENTUALLY);
});
