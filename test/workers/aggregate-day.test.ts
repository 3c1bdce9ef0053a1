import type { ObjectId } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { after, DAY, HOUR, MINUTE, systemClock } from '../../src/platform/clock.ts';
import { addDays, dayOf, markDone, startOfDay } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { insert, listServer, probe } from '../history/samples.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testDeps } from '../support/test-deps.ts';
import { startScheduler, startWorker } from '../support/workers.ts';

const ONLY_THIS = { args: ['aggregate-day'] };

/** The newest day that is due: it ended at least 10 minutes ago. */
function lastDay(): string {
  return addDays(dayOf(after(new Date(), -10 * MINUTE)), -1);
}

/** A server that was listed on `day`. */
async function listOn(deps: AppDeps, day: string): Promise<ObjectId> {
  const serverId = await listServer(deps);
  await deps.servers.updateOne({ _id: serverId }, { $set: { listedAt: startOfDay(day) } });
  return serverId;
}

function marks({ periodMarks }: AppDeps, work: string): Promise<string[]> {
  return periodMarks
    .find({ work })
    .sort({ period: 1 })
    .map(({ period }) => period)
    .toArray();
}

it('computes each missed day once after three days without a scheduler, also with several schedulers', async () => {
  const deps = await testDeps();
  const last = lastDay();
  const days = [-4, -3, -2, -1, 0].map((age) => addDays(last, age));
  const [done = '', ...missed] = days;
  const serverId = await listOn(deps, done);
  await markDone(deps, 'aggregate-day', done);
  await markDone(deps, 'aggregate-day-again', done);
  await insert(
    deps,
    days.map((day) => probe(serverId, after(startOfDay(day), HOUR), { onlinePlayers: 8 })),
  );
  const worker = await startWorker(deps.config, ONLY_THIS);
  await Promise.all([startScheduler(deps.config), startScheduler(deps.config)]);
  await vi.waitFor(async () => expect(await marks(deps, 'aggregate-day')).toEqual(days), EVENTUALLY);
  // Days that ended more than a day ago are not computed again.
  expect(await marks(deps, 'aggregate-day-again')).toEqual(days.slice(0, -1));
  const found = await deps.dailyStats.find({ serverId }).sort({ day: 1 }).toArray();
  expect(found.map(({ day }) => day)).toEqual(missed);
  const daily = (await deps.servers.findOne({ _id: serverId }))?.daily;
  expect(daily).toMatchObject({ averagePlayers: 8, uptimePercentage: 100 });
  await vi.waitFor(async () => {
    const jobs = await deps.queues['aggregate-day'].getJobs(['completed']);
    expect(jobs.map(({ name }) => name)).toContain(`Aggregate day: ${last}`);
  }, EVENTUALLY);
  expect(worker.lines.filter(({ event }) => event === 'job.failed')).toEqual([]);
});

it('computes a day again one day later', async () => {
  const deps = await testDeps();
  const last = lastDay();
  const serverId = await listOn(deps, last);
  await insert(deps, [probe(serverId, after(startOfDay(last), HOUR))]);
  const [worker, scheduler] = await Promise.all([
    startWorker(deps.config, ONLY_THIS),
    startScheduler(deps.config),
  ]);
  await vi.waitFor(async () => expect(await marks(deps, 'aggregate-day')).toEqual([last]), EVENTUALLY);
  expect(await marks(deps, 'aggregate-day-again')).toEqual([]);
  await Promise.all([worker.stop(), scheduler.stop()]);

  await insert(deps, [probe(serverId, after(startOfDay(last), 2 * HOUR))]);
  const tomorrow = { clock: systemClock(DAY) };
  await startWorker(deps.config, { ...ONLY_THIS, ...tomorrow });
  await startScheduler(deps.config, tomorrow);
  await vi.waitFor(async () => expect(await marks(deps, 'aggregate-day-again')).toEqual([last]), EVENTUALLY);
  expect(await deps.dailyStats.findOne({ serverId, day: last })).toMatchObject({
    probes: { onlineSeconds: 600 },
  });
});
