import { UUID } from 'mongodb';
import { expect, it } from 'vitest';
import { aggregateDay } from '../../src/history/aggregate-day.ts';
import { type HistoryPoint, type HistoryRange, historyOf } from '../../src/history/history.ts';
import { uptimeDays } from '../../src/history/uptime-days.ts';
import { depsAt, insert, listServer, probe, probes, report } from './samples.ts';

/** What a point shows, short: hour and minute or day, players, online share or reason. */
const shown = ({ at, averagePlayers, onlineShare, reason }: HistoryPoint) => [
  at.toISOString().slice(5, 16),
  averagePlayers,
  onlineShare ?? reason,
];

it('shows the probes of 48 hours and no report, and a point of nulls for time without data', async () => {
  const deps = await depsAt('2028-03-01T12:00:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [
    probe(serverId, '2028-02-28T11:59:00Z'),
    probe(serverId, '2028-03-01T10:00:00Z', { onlinePlayers: 3, latencyMs: 9 }),
    report(serverId, '2028-03-01T10:02:00Z', { onlinePlayers: 4 }),
    probe(serverId, '2028-03-01T10:05:00Z', { status: 'unknown', reason: 'unconfirmed' }),
    probe(serverId, '2028-03-01T10:10:00Z', { status: 'unknown', reason: 'canary' }),
    probe(serverId, '2028-03-01T10:15:00Z', { status: 'offline', onlinePlayers: 0 }),
    probe(serverId, '2028-03-01T11:30:00Z', { onlinePlayers: 0 }),
  ]);
  const { resolution, points } = await historyOf(deps, serverId, '48h');
  expect(resolution).toBe('samples');
  expect(points.map(shown)).toEqual([
    ['03-01T10:00', 3, 1],
    ['03-01T10:05', null, 'unconfirmed'],
    ['03-01T10:10', null, 'canary'],
    ['03-01T10:15', null, 0],
    // The last sample was valid for 15 minutes.
    ['03-01T10:30', null, 'no-data'],
    ['03-01T11:30', 0, 1],
    ['03-01T11:45', null, 'no-data'],
  ]);
  expect(points[0]).toMatchObject({ source: 'probes', latencyMs: 9, peakPlayers: 3 });
});

it('has no players where the server hid them, in samples, hours and days', async () => {
  const deps = await depsAt('2028-03-15T12:00:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [
    ...probes(serverId, '2028-03-13T20:00:00Z', 24, { onlinePlayers: null }),
    ...probes(serverId, '2028-03-14T20:00:00Z', 6, { onlinePlayers: 8 }),
    ...probes(serverId, '2028-03-14T20:30:00Z', 6, { onlinePlayers: null }),
  ]);
  for (const day of ['2028-03-13', '2028-03-14']) await aggregateDay(deps, day);
  const players = async (range: HistoryRange) =>
    (await historyOf(deps, serverId, range)).points
      .filter(({ onlineShare }) => onlineShare !== null)
      .map(({ averagePlayers, peakPlayers }) => [averagePlayers, peakPlayers]);
  expect(await players('30d')).toEqual([
    [null, null],
    [null, null],
    [8, 8],
  ]);
  expect(await players('all')).toEqual([
    [null, null],
    [8, 8],
  ]);
  expect((await players('48h')).filter(([average]) => average === null)).toHaveLength(30);
});

it('shows the reports of 48 hours, and no probe, of a server whose source is its reports', async () => {
  const deps = await depsAt('2028-03-01T12:00:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [
    report(serverId, '2028-03-01T11:40:00Z', { onlinePlayers: 4 }),
    probe(serverId, '2028-03-01T11:42:00Z', { status: 'offline', onlinePlayers: 0 }),
    report(serverId, '2028-03-01T11:50:00Z', { onlinePlayers: 6, latencyMs: 9 }),
  ]);
  const lastReport = { id: new UUID(), at: new Date('2028-03-01T11:50:00Z') };
  await deps.servers.updateOne({ _id: serverId }, { $set: { lastReport } });
  const { points } = await historyOf(deps, serverId, '48h');
  expect(points.map(shown)).toEqual([
    ['03-01T11:40', 4, 1],
    ['03-01T11:50', 6, 1],
  ]);
  expect(points[1]).toMatchObject({ source: 'reports', latencyMs: 9 });

  await deps.servers.updateOne({ _id: serverId }, { $set: { 'probe.succeededAt': deps.clock.now() } });
  expect((await historyOf(deps, serverId, '48h')).points.map(shown)).toEqual([
    ['03-01T11:42', null, 0],
    ['03-01T11:57', null, 'no-data'],
  ]);
});

it('shows 30 days as hours of the current source, or of the other one if that has no data', async () => {
  const deps = await depsAt('2028-03-01T12:30:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [
    ...probes(serverId, '2028-02-29T22:00:00Z', 6, { onlinePlayers: 10, latencyMs: 20 }),
    ...probes(serverId, '2028-02-29T22:30:00Z', 3, { status: 'offline' }),
    report(serverId, '2028-02-29T22:10:00Z', { onlinePlayers: 99 }),
    probe(serverId, '2028-02-29T23:00:00Z', { status: 'unknown', reason: 'canary' }),
    report(serverId, '2028-03-01T01:00:00Z', { onlinePlayers: 5 }),
    report(serverId, '2028-03-01T01:30:00Z', { onlinePlayers: 5 }),
  ]);
  const { resolution, points } = await historyOf(deps, serverId, '30d');
  expect(resolution).toBe('hours');
  expect(points.map(shown)).toEqual([
    ['02-29T22:00', 10, 6 / 9],
    ['02-29T23:00', null, 'canary'],
    ['03-01T00:00', null, 'no-data'],
    ['03-01T01:00', 5, 30 / 45],
  ]);
  expect(points.map(({ source }) => source)).toEqual(['probes', null, null, 'reports']);

  const lastReport = { id: new UUID(), at: new Date('2028-03-01T01:30:00Z') };
  await deps.servers.updateOne({ _id: serverId }, { $set: { lastReport } });
  const believed = await historyOf(deps, serverId, '30d');
  expect(shown(believed.points[0] as HistoryPoint).slice(0, 2)).toEqual(['02-29T22:00', 99]);
});

it('fills the hours of a server that is long offline and probed hourly', async () => {
  const deps = await depsAt('2028-03-01T12:30:00Z');
  const serverId = await listServer(deps);
  const offline = { status: 'offline', seconds: 3_900 } as const;
  await insert(deps, [
    probe(serverId, '2028-03-01T05:55:00Z', offline),
    probe(serverId, '2028-03-01T05:57:00Z', { status: 'offline', seconds: 0 }),
    // None between 6 and 7: the next one was 65 minutes later.
    probe(serverId, '2028-03-01T07:00:00Z', offline),
    probe(serverId, '2028-03-01T08:05:00Z', { ...offline, seconds: 1_800 }),
    // No probe for hours.
    probe(serverId, '2028-03-01T11:50:00Z', offline),
  ]);
  const { points } = await historyOf(deps, serverId, '30d');
  expect(points.map(shown)).toEqual([
    ['03-01T05:00', null, 0],
    ['03-01T06:00', null, 0],
    ['03-01T07:00', null, 0],
    ['03-01T08:00', null, 0],
    ['03-01T09:00', null, 'no-data'],
    ['03-01T10:00', null, 'no-data'],
    ['03-01T11:00', null, 0],
    ['03-01T12:00', null, 0],
  ]);
});

it('shows all time as days, and thirty of them with their unknown time by reason', async () => {
  const deps = await depsAt('2028-03-03T00:10:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [
    ...probes(serverId, '2028-02-28T00:00:00Z', 144, { onlinePlayers: 10 }),
    ...probes(serverId, '2028-02-28T12:00:00Z', 36, { status: 'offline' }),
    ...probes(serverId, '2028-02-28T15:00:00Z', 12, { status: 'unknown', reason: 'canary' }),
    probe(serverId, '2028-03-01T15:00:00Z', { onlinePlayers: 2 }),
  ]);
  for (const day of ['2028-02-28', '2028-02-29', '2028-03-01', '2028-03-02']) await aggregateDay(deps, day);
  const { resolution, points } = await historyOf(deps, serverId, 'all');
  expect(resolution).toBe('days');
  expect(points.map(shown)).toEqual([
    ['02-28T00:00', 10, 0.8],
    ['02-29T00:00', null, 'no-data'],
    ['03-01T00:00', 2, 1],
  ]);

  const days = await uptimeDays(deps, serverId);
  expect(days).toHaveLength(30);
  expect(days.at(0)?.day).toBe('2028-02-02');
  expect(days.find(({ day }) => day === '2028-02-28')).toEqual({
    day: '2028-02-28',
    onlineSeconds: 43_200,
    offlineSeconds: 10_800,
    unknownSeconds: 32_400,
    unknown: { canary: 3_600, unconfirmed: 0, 'no-data': 28_800, paused: 0 },
  });
  expect(days.at(-1)).toMatchObject({ day: '2028-03-02', unknown: { 'no-data': 86_400 } });
});

it('is empty for a server that was never probed', async () => {
  const deps = await depsAt('2028-03-03T00:10:00Z');
  const serverId = await listServer(deps);
  for (const range of ['48h', '30d', 'all'] as const) {
    expect((await historyOf(deps, serverId, range)).points).toEqual([]);
  }
});
