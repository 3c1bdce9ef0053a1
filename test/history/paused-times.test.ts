import type { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { aggregateDay } from '../../src/history/aggregate-day.ts';
import { refreshDailyFigures } from '../../src/history/daily-figures.ts';
import { historyOf } from '../../src/history/history.ts';
import { uptimeDays } from '../../src/history/uptime-days.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { dayOfServer, depsAt, insert, listServer, probe, probes, report } from './samples.ts';

async function pause(deps: AppDeps, _id: ObjectId, from: string, until?: string): Promise<void> {
  await deps.servers.updateOne(
    { _id },
    until
      ? { $push: { earlierPauses: { from: new Date(from), until: new Date(until) } } }
      : { $set: { listingPause: { at: new Date(from) } } },
  );
}

it('the seconds of a probe end when the pause begins, and no probe of the pause counts', async () => {
  const deps = await depsAt('2028-03-15T12:00:00Z');
  const [paused, other] = [await listServer(deps), await listServer(deps, 'Beta')];
  for (const serverId of [paused, other])
    await insert(deps, [
      probe(serverId, '2028-03-14T10:00:00Z', { onlinePlayers: 4 }),
      // Of a check by hand, or that was under way: it would raise the peak.
      probe(serverId, '2028-03-14T10:30:00Z', { onlinePlayers: 90, seconds: 0 }),
      probe(serverId, '2028-03-14T12:00:00Z', { status: 'offline', onlinePlayers: 0 }),
    ]);
  await pause(deps, paused, '2028-03-14T10:01:00Z', '2028-03-14T11:00:00Z');
  await aggregateDay(deps, '2028-03-14');
  expect((await dayOfServer(deps, paused, '2028-03-14'))?.probes).toMatchObject({
    onlineSeconds: 60,
    offlineSeconds: 300,
    peakPlayers: 4,
  });
  expect((await dayOfServer(deps, other, '2028-03-14'))?.probes).toMatchObject({
    onlineSeconds: 300,
    peakPlayers: 90,
  });
  await refreshDailyFigures(deps);
  const server = await deps.servers.findOne({ _id: paused });
  expect(server?.daily.uptimePercentage).toBeCloseTo((100 * 60) / 360);
});

it('the time from a report to the pause counts, and none of the pause', async () => {
  const deps = await depsAt('2028-03-15T12:00:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [
    report(serverId, '2028-03-14T10:00:00Z', { onlinePlayers: 4 }),
    report(serverId, '2028-03-14T12:00:00Z', { onlinePlayers: 90 }),
    report(serverId, '2028-03-14T14:10:00Z', { onlinePlayers: 2 }),
    report(serverId, '2028-03-14T14:20:00Z', { onlinePlayers: 2 }),
  ]);
  await pause(deps, serverId, '2028-03-14T10:20:00Z', '2028-03-14T14:00:00Z');
  await aggregateDay(deps, '2028-03-14');
  // 15 valid minutes and 5 of silence before the pause; after it 10 minutes and the 15 of the last report.
  expect((await dayOfServer(deps, serverId, '2028-03-14'))?.reports).toMatchObject({
    onlineSeconds: 15 * 60 + 10 * 60 + 15 * 60,
    offlineSeconds: 5 * 60,
    peakPlayers: 4,
  });
});

it('a pause over several days leaves no gap of reports, also in the days that are computed again', async () => {
  const deps = await depsAt('2028-03-15T12:00:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [
    report(serverId, '2028-03-10T10:00:00Z'),
    report(serverId, '2028-03-12T10:00:00Z'),
    report(serverId, '2028-03-14T10:00:00Z'),
  ]);
  await pause(deps, serverId, '2028-03-10T10:10:00Z', '2028-03-14T09:00:00Z');
  for (const day of ['2028-03-10', '2028-03-11', '2028-03-12', '2028-03-13', '2028-03-14'])
    await aggregateDay(deps, day);
  const sums = await deps.dailyStats.find({ serverId }).sort({ day: 1 }).toArray();
  expect(sums.map(({ day, reports }) => [day, reports.onlineSeconds, reports.offlineSeconds])).toEqual([
    ['2028-03-10', 600, 0],
    ['2028-03-14', 900, 0],
  ]);
});

it('charts say that the time was paused, and show no sample of it', async () => {
  const deps = await depsAt('2028-03-15T12:00:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [
    ...probes(serverId, '2028-03-13T00:00:00Z', 12),
    ...probes(serverId, '2028-03-15T09:00:00Z', 2),
    probe(serverId, '2028-03-15T10:00:00Z', { seconds: 0 }),
  ]);
  await pause(deps, serverId, '2028-03-13T01:00:00Z', '2028-03-15T09:00:00Z');
  await pause(deps, serverId, '2028-03-15T09:06:00Z');
  for (const day of ['2028-03-13', '2028-03-14']) await aggregateDay(deps, day);
  const shown = async (range: '48h' | '30d' | 'all') =>
    (await historyOf(deps, serverId, range)).points.map(({ at, onlineShare, reason }) => [
      at.toISOString().slice(8, 16),
      onlineShare ?? reason,
    ]);
  expect(await shown('48h')).toEqual([
    ['15T09:00', 1],
    ['15T09:05', 1],
    ['15T09:06', 'paused'],
  ]);
  const hours = await shown('30d');
  expect(hours.slice(0, 3)).toEqual([
    ['13T00:00', 1],
    ['13T01:00', 'paused'],
    ['13T02:00', 'paused'],
  ]);
  expect(hours.at(-1)).toEqual(['15T09:00', 1]);
  const days = (await uptimeDays(deps, serverId)).slice(-2);
  expect(days.map(({ day, onlineSeconds, unknown }) => [day, onlineSeconds, unknown.paused])).toEqual([
    ['2028-03-13', 3_600, 23 * 3_600],
    ['2028-03-14', 0, 86_400],
  ]);
});
