import { expect, it, vi } from 'vitest';
import { DAY, HOUR } from '../../src/platform/clock.ts';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testDeps } from '../support/test-deps.ts';
import { spawnScheduler, spawnWorker } from '../support/worker-process.ts';
import { startScheduler, startWorker } from '../support/workers.ts';
import { addGameServer, castingDeps, madeBy } from './game-server.ts';

it.each([
  HOUR,
  -HOUR,
])('a worker whose clock is %s ms ahead sends no vote; a worker with a right clock sends all of them', async (ms) => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const wrong = await spawnWorker(deps.config, { env: { CLOCK_OFFSET_MS: String(ms) } });
  await wrong.waitForEvent('clock.off');
  const votes = [];
  for (const name of ['Steve', 'Alex', 'Notch', 'Jeb']) votes.push(await alpha.cast(name));
  const right = await startWorker(deps.config);
  await vi.waitUntil(async () => (await alpha.count('delivered')) === votes.length, EVENTUALLY);
  for (const vote of votes) {
    const { attempts } = await alpha.delivery(vote);
    expect(attempts).toHaveLength(1);
    expect(madeBy(attempts[0], right)).toBe(true);
  }
});

it.each([DAY, -DAY])('a scheduler whose clock is %s ms ahead begins no round', async (ms) => {
  const deps = await testDeps();
  const wrong = await spawnScheduler(deps.config, { env: { CLOCK_OFFSET_MS: String(ms) } });
  await wrong.waitForEvent('clock.off');
  const jobs = async () => {
    const counts = await Promise.all(
      Object.values(deps.queues).map((queue) => queue.getJobCountByTypes('waiting', 'prioritized')),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  };
  expect(await jobs()).toBe(0);
  await startScheduler(deps.config);
  await vi.waitUntil(async () => (await jobs()) > 0, EVENTUALLY);
  const days = await deps.queues['clean-up'].getJobs(['waiting']);
  const today = dayOf(deps.clock.now());
  for (const { data } of days) expect(data.day <= today).toBe(true);
});
