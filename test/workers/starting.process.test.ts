import { expect, it } from 'vitest';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import { spawnScheduler, spawnWorker } from '../support/worker-process.ts';
import { addGameServer, castingPlatform } from './game-server.ts';

it('works on only those queues that its command line names, and refuses one that is none', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  const worker = await spawnWorker(platform.config, { args: ['clean-up'] });
  await alpha.cast('Steve');
  await platform.queues['clean-up'].add('Clean up', { day: dayOf(platform.clock.now()) });
  await worker.waitForEvent('clean_up.done');
  expect(await alpha.count('waiting')).toBe(1);
  await expect(spawnWorker(platform.config, { args: ['forward-vote'] })).rejects.toThrow(
    /«forward-vote» is no queue: there are forward-votes, test-listeners, drain-backlogs, probe-servers, clean-up/,
  );
});

it('starts a scheduler that enqueues what is due, and stops in order when it is asked to', async () => {
  const platform = await castingPlatform();
  const scheduler = await spawnScheduler(platform.config);
  await scheduler.waitForEvent('schedule.enqueued');
  expect(await scheduler.stop()).toEqual({ code: 0, signal: null });
  expect(scheduler.lines.at(-1)).toMatchObject({ event: 'process.stopped' });
});
