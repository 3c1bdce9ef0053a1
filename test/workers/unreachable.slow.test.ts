import { expect, it, vi } from 'vitest';
import { pauseListener, resumeListener, showListener } from '../../src/delivery/change-listener.ts';
import { DELIVERY_QUEUES } from '../../src/listeners/delivery-queues.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, allArrive, castingDeps, castMany } from './game-server.ts';

function openJobs({ queues }: AppDeps) {
  return Promise.all(
    DELIVERY_QUEUES.map((name) => queues[name].getJobs(['waiting', 'active', 'delayed'])),
  ).then((jobs) => jobs.flat());
}

async function countKeys({ producerRedis, config }: AppDeps): Promise<number> {
  return (await producerRedis.keys(`{${config.QUEUE_PREFIX}:test-listeners}*`)).length;
}

it('keeps the votes of a listener that is down, shows it in Bull Board, and delivers when it is up', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps, { name: 'Alpha' });
  await startWorker(deps.config);
  await alpha.listener.stop();
  const votes = [];
  for (const name of ['Steve', 'Alex', 'Kai', 'Zoe']) votes.push(await alpha.cast(name));

  await vi.waitFor(async () => {
    const [job, ...others] = await openJobs(deps);
    expect(others).toEqual([]);
    expect(await job?.getState()).toBe('delayed');
    expect(job?.progress).toEqual({
      server: 'Alpha',
      waiting: 4,
      reason: 'connection-refused',
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      dueAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
  }, EVENTUALLY);
  expect(await showListener(deps, alpha.serverId)).toMatchObject({
    state: 'unreachable',
    waiting: 4,
    breaker: { code: 'connection-refused' },
  });

  await alpha.listener.start();
  await vi.waitUntil(async () => (await alpha.count('delivered')) === 4, EVENTUALLY);
  expect(alpha.listener.votes).toHaveLength(4);
  for (const vote of votes) {
    const { ends, attempts } = await alpha.delivery(vote);
    expect(ends.ambiguous).toBeUndefined();
    expect(attempts.at(-1)?.code).toBe('acknowledged');
  }
  await vi.waitFor(async () => {
    expect(await showListener(deps, alpha.serverId)).toMatchObject({ state: 'active' });
    expect(await openJobs(deps)).toEqual([]);
  }, EVENTUALLY);
});

it('Redis has one job for it, however many votes wait', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  await startWorker(deps.config);
  await alpha.listener.stop();
  for (const name of ['Steve', 'Alex', 'Kai']) await alpha.cast(name);
  await vi.waitUntil(async () => (await openJobs(deps))[0]?.progress !== 0, EVENTUALLY);
  const before = await countKeys(deps);

  for (let n = 0; n < 100; n += 1) {
    await Promise.all(Array.from({ length: 10 }, (_, i) => alpha.cast(`player ${n * 10 + i}`)));
  }
  // Each test of the listener is counted.
  await vi.waitFor(async () => {
    expect((await openJobs(deps))[0]?.progress).toMatchObject({ waiting: 1_003 });
  }, EVENTUALLY);
  await vi.waitFor(async () => expect(await openJobs(deps)).toHaveLength(1), EVENTUALLY);
  // At most two keys: the job's lock while it runs, and a record that it must run once more.
  expect(await countKeys(deps)).toBeLessThanOrEqual(before + 3);
}, 90_000);

it('adds no job for the votes of a paused listener, and delivers them after a resume', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  await pauseListener(deps, alpha.serverId, 'owner');
  await deps.producer.settle();
  for (const name of DELIVERY_QUEUES) await deps.queues[name].obliterate({ force: true });
  const votes = await castMany(alpha, 10);
  await deps.producer.settle();
  expect(await openJobs(deps)).toEqual([]);

  await startWorker(deps.config);
  await resumeListener(deps, alpha.serverId, 'owner');
  await allArrive(alpha, votes);
});
