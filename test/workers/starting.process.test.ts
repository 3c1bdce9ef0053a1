import { expect, it } from 'vitest';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import { spawnScheduler, spawnWorker } from '../support/worker-process.ts';
import { addGameServer, castingDeps } from './game-server.ts';

it('works only on the queues of its command line, and refuses an unknown one', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const worker = await spawnWorker(deps.config, { args: ['clean-up'] });
  await alpha.cast('Steve');
  await deps.queues['clean-up'].add('Clean up', { day: dayOf(deps.clock.now()) });
  await worker.waitForEvent('clean_up.done');
  expect(await alpha.count('waiting')).toBe(1);
  await expect(spawnWorker(deps.config, { args: ['forward-vote'] })).rejects.toThrow(
    /“forward-vote” is not a queue. The queues are forward-votes, test-listeners, drain-backlogs, probe-servers, clean-up/,
  );
});

it('starts a scheduler that adds jobs for due work, and stops in order at a signal', async () => {
  const deps = await castingDeps();
  const scheduler = await spawnScheduler(deps.config);
  await scheduler.waitForEvent('schedule.enqueued');
  expect(await scheduler.stop()).toEqual({ code: 0, signal: null });
  expect(scheduler.lines.at(-1)).toMatchObject({ event: 'process.stopped' });
});
