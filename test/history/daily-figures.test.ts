import { UUID } from 'mongodb';
import { expect, it } from 'vitest';
import { aggregateDay } from '../../src/history/aggregate-day.ts';
import { refreshDailyFigures } from '../../src/history/daily-figures.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { addDays } from '../../src/platform/periods/period-marks.ts';
import { depsAt, insert, listServer, probe, probes, report } from './samples.ts';

type TestDeps = Awaited<ReturnType<typeof depsAt>>;

async function dailyOf(deps: TestDeps, serverId: Awaited<ReturnType<typeof listServer>>) {
  return (await deps.servers.findOne({ _id: serverId }))?.daily;
}

const UNKNOWN = {
  averagePlayers: 0,
  peakPlayers: 0,
  averageLatency: null,
  uptimePercentage: null,
  probedUptime: null,
  usualPlayers: 0,
  players: [null, null, null, null, null, null, null],
};

it('takes players from the 7 whole days before today, latency and uptime from the 30', async () => {
  const deps = await depsAt('2028-03-15T12:00:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [
    // 31 days ago: does not count.
    ...probes(serverId, '2028-02-13T00:00:00Z', 100, { status: 'offline' }),
    // 30 days ago.
    ...probes(serverId, '2028-02-14T00:00:00Z', 10, { onlinePlayers: 900, latencyMs: 100 }),
    // 8 days ago.
    ...probes(serverId, '2028-03-07T00:00:00Z', 10, { status: 'offline' }),
    // 7 days ago.
    ...probes(serverId, '2028-03-08T00:00:00Z', 10, { onlinePlayers: 30, latencyMs: 40 }),
    // Yesterday.
    ...probes(serverId, '2028-03-14T23:00:00Z', 10, { onlinePlayers: 10, latencyMs: 10 }),
    // Today.
    ...probes(serverId, '2028-03-15T00:00:00Z', 10, { onlinePlayers: 500, latencyMs: 400 }),
  ]);
  for (let day = '2028-02-13'; day < '2028-03-15'; day = addDays(day, 1)) await aggregateDay(deps, day);
  await refreshDailyFigures(deps);
  expect(await dailyOf(deps, serverId)).toEqual({
    averagePlayers: 20,
    peakPlayers: 30,
    averageLatency: 50,
    uptimePercentage: 75,
    probedUptime: 75,
    usualPlayers: 0,
    players: [30, null, null, null, null, null, 10],
  });
});

it('updates the figures when days pass without a sample, until they are unknown', async () => {
  const deps = await depsAt('2028-03-15T00:10:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [probe(serverId, '2028-03-14T10:00:00Z', { onlinePlayers: 12, latencyMs: 25 })]);
  await aggregateDay(deps, '2028-03-14');
  await refreshDailyFigures(deps);
  expect(await dailyOf(deps, serverId)).toMatchObject({ averagePlayers: 12, uptimePercentage: 100 });
  deps.clock.move(7 * DAY);
  await refreshDailyFigures(deps);
  expect(await dailyOf(deps, serverId)).toEqual({
    averagePlayers: 0,
    peakPlayers: 0,
    averageLatency: 25,
    uptimePercentage: 100,
    probedUptime: 100,
    usualPlayers: 0,
    players: [null, null, null, null, null, null, null],
  });
  deps.clock.move(23 * DAY);
  await refreshDailyFigures(deps);
  expect(await dailyOf(deps, serverId)).toEqual(UNKNOWN);
});

it('uses the current source, and stores the uptime by probes separately', async () => {
  const deps = await depsAt('2028-03-15T00:10:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [
    ...probes(serverId, '2028-03-14T00:00:00Z', 10, { status: 'offline' }),
    report(serverId, '2028-03-14T10:00:00Z', { onlinePlayers: 7, latencyMs: 3 }),
  ]);
  await aggregateDay(deps, '2028-03-14');
  const lastReport = { id: new UUID(), at: new Date('2028-03-14T10:00:00Z') };
  await deps.servers.updateOne({ _id: serverId }, { $set: { lastReport } });
  await refreshDailyFigures(deps);
  expect(await dailyOf(deps, serverId)).toEqual({
    averagePlayers: 7,
    peakPlayers: 7,
    averageLatency: 3,
    uptimePercentage: 100,
    probedUptime: 0,
    usualPlayers: 0,
    players: [null, null, null, null, null, null, 7],
  });
  const succeededAt = after(deps.clock.now(), -HOUR);
  await deps.servers.updateOne({ _id: serverId }, { $set: { 'probe.succeededAt': succeededAt } });
  await refreshDailyFigures(deps);
  expect(await dailyOf(deps, serverId)).toMatchObject({ averagePlayers: 0, uptimePercentage: 0 });
});

it('leaves all other fields of a server unchanged', async () => {
  const deps = await depsAt('2028-03-15T00:10:00Z');
  const serverId = await listServer(deps);
  const before = await deps.servers.findOne({ _id: serverId });
  await refreshDailyFigures(deps);
  expect(await deps.servers.findOne({ _id: serverId })).toEqual({ ...before, daily: UNKNOWN });
});
