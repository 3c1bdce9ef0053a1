import { expect, it } from 'vitest';
import { aggregateDay } from '../../src/history/aggregate-day.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { dayOfServer, depsAt, insert, listServer, NOTHING, probe, probes, report } from './samples.ts';

const DAY = '2028-02-29';
const AFTER_IT = '2028-03-01T00:10:00Z';

it('weights each probe by its seconds: online, offline and the two kinds of unknown', async () => {
  const deps = await depsAt(AFTER_IT);
  const serverId = await listServer(deps);
  await insert(deps, [
    probe(serverId, `${DAY}T00:00:00Z`, { onlinePlayers: 10, latencyMs: 20 }),
    probe(serverId, `${DAY}T00:05:00Z`, { onlinePlayers: 40, seconds: 600 }),
    probe(serverId, `${DAY}T00:15:00Z`, { status: 'unknown', reason: 'unconfirmed' }),
    probe(serverId, `${DAY}T00:20:00Z`, { status: 'unknown', reason: 'canary', seconds: 200 }),
    probe(serverId, `${DAY}T00:25:00Z`, { status: 'offline', seconds: 100, onlinePlayers: 999 }),
    // By hand: counts only for the peak.
    probe(serverId, `${DAY}T00:30:00Z`, { onlinePlayers: 50, seconds: 0, latencyMs: 5 }),
  ]);
  await aggregateDay(deps, DAY);
  expect(await dayOfServer(deps, serverId, DAY)).toEqual({
    probes: {
      onlineSeconds: 900,
      offlineSeconds: 100,
      unconfirmedSeconds: 300,
      canarySeconds: 200,
      playerSeconds: 10 * 300 + 40 * 600,
      latencySum: 20 * 300,
      latencySeconds: 300,
      peakPlayers: 50,
    },
    reports: NOTHING,
  });
});

it('leaves the time in which the players were hidden out of the players', async () => {
  const deps = await depsAt(AFTER_IT);
  const serverId = await listServer(deps);
  await insert(deps, [
    probe(serverId, `${DAY}T00:00:00Z`, { onlinePlayers: 10 }),
    probe(serverId, `${DAY}T00:05:00Z`, { onlinePlayers: null, seconds: 900 }),
    probe(serverId, `${DAY}T00:20:00Z`, { onlinePlayers: null, status: 'offline', seconds: 200 }),
  ]);
  await aggregateDay(deps, DAY);
  expect((await dayOfServer(deps, serverId, DAY))?.probes).toEqual({
    ...NOTHING,
    onlineSeconds: 1_200,
    hiddenSeconds: 900,
    offlineSeconds: 200,
    playerSeconds: 3_000,
    peakPlayers: 10,
  });
});

it('counts a probe for the day in which it was made, on a leap day and at both of its edges', async () => {
  const deps = await depsAt('2028-03-02T01:00:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [
    probe(serverId, '2028-02-28T23:59:59.999Z', { onlinePlayers: 1 }),
    probe(serverId, '2028-02-29T00:00:00.000Z', { onlinePlayers: 2 }),
    probe(serverId, '2028-02-29T23:59:59.999Z', { onlinePlayers: 3 }),
    probe(serverId, '2028-03-01T00:00:00.000Z', { onlinePlayers: 4 }),
  ]);
  for (const day of ['2028-02-28', '2028-02-29', '2028-03-01']) await aggregateDay(deps, day);
  const found = await deps.dailyStats.find({ serverId }).sort({ day: 1 }).toArray();
  expect(found.map(({ day, probes }) => [day, probes.onlineSeconds, probes.peakPlayers])).toEqual([
    ['2028-02-28', 300, 1],
    ['2028-02-29', 600, 3],
    ['2028-03-01', 300, 4],
  ]);
});

it('limits a day to 86,400 seconds when probes overlap', async () => {
  const deps = await depsAt(AFTER_IT);
  const serverId = await listServer(deps);
  await insert(deps, [
    ...probes(serverId, `${DAY}T00:00:00Z`, 288, { onlinePlayers: 10, latencyMs: 30 }),
    ...probes(serverId, `${DAY}T00:00:01Z`, 288, { status: 'offline' }),
  ]);
  await aggregateDay(deps, DAY);
  expect((await dayOfServer(deps, serverId, DAY))?.probes).toEqual({
    ...NOTHING,
    onlineSeconds: 43_200,
    offlineSeconds: 43_200,
    playerSeconds: 432_000,
    latencySum: 30 * 43_200,
    latencySeconds: 43_200,
    peakPlayers: 10,
  });
});

it('counts a report as online for at most 15 minutes; the rest of the gap is offline, the newest report has no gap', async () => {
  const deps = await depsAt(AFTER_IT);
  const serverId = await listServer(deps);
  await insert(deps, [
    report(serverId, `${DAY}T10:00:00Z`, { onlinePlayers: 6, latencyMs: 10 }),
    report(serverId, `${DAY}T10:05:00Z`, { onlinePlayers: 8 }),
    report(serverId, `${DAY}T11:05:00Z`, { onlinePlayers: 4, latencyMs: 40 }),
  ]);
  await aggregateDay(deps, DAY);
  expect(await dayOfServer(deps, serverId, DAY)).toEqual({
    probes: NOTHING,
    reports: {
      ...NOTHING,
      onlineSeconds: 300 + 900 + 900,
      offlineSeconds: 2_700,
      playerSeconds: 6 * 300 + 8 * 900 + 4 * 900,
      latencySum: 10 * 300 + 40 * 900,
      latencySeconds: 1_200,
      peakPlayers: 8,
    },
  });
});

it('continues reports and their gaps after midnight', async () => {
  const deps = await depsAt('2028-03-02T00:10:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [
    report(serverId, '2028-02-29T23:50:00Z', { onlinePlayers: 5 }),
    report(serverId, '2028-03-01T01:00:00Z', { onlinePlayers: 3 }),
  ]);
  await aggregateDay(deps, '2028-02-29');
  await aggregateDay(deps, '2028-03-01');
  expect((await dayOfServer(deps, serverId, '2028-02-29'))?.reports).toEqual({
    ...NOTHING,
    onlineSeconds: 600,
    playerSeconds: 3_000,
    peakPlayers: 5,
  });
  expect((await dayOfServer(deps, serverId, '2028-03-01'))?.reports).toEqual({
    ...NOTHING,
    onlineSeconds: 300 + 900,
    offlineSeconds: 3_300,
    playerSeconds: 5 * 300 + 3 * 900,
    // The highest of the reports of that day.
    peakPlayers: 3,
  });
});

it('counts days without reports as offline once reports begin again, up to 7 days after the last one', async () => {
  const deps = await depsAt('2028-02-21T00:10:00Z');
  const serverId = await listServer(deps);
  await insert(deps, [report(serverId, '2028-02-20T12:00:00Z')]);
  const offline = async () => {
    const found = await deps.dailyStats.find({ serverId }).sort({ day: 1 }).toArray();
    return found.map(({ day, reports }) => [day.slice(5), reports.offlineSeconds]);
  };
  // As the days pass, each is computed at its end and again a day later: unknown is not offline.
  for (let day = 20; day <= 29; day++) {
    await aggregateDay(deps, `2028-02-${day}`);
    if (day > 20) await aggregateDay(deps, `2028-02-${day - 1}`);
    deps.clock.move(24 * HOUR);
  }
  expect(await offline()).toEqual([['02-20', 0]]);

  await insert(deps, [report(serverId, '2028-03-01T06:00:00Z')]);
  deps.clock.set(new Date('2028-03-02T00:10:00Z'));
  await aggregateDay(deps, '2028-03-01');
  const rest = 12 * 3_600 - 900;
  expect(await offline()).toEqual([
    ['02-20', rest],
    ['02-21', 86_400],
    ['02-22', 86_400],
    ['02-23', 86_400],
    ['02-24', 86_400],
    ['02-25', 86_400],
    ['02-26', 86_400],
    ['02-27', 43_200],
    ['03-01', 0],
  ]);
});

it('replaces a day that is computed again, with late samples', async () => {
  const deps = await depsAt(AFTER_IT);
  const serverId = await listServer(deps);
  await insert(deps, [probe(serverId, `${DAY}T10:00:00Z`)]);
  await aggregateDay(deps, DAY);
  const first = await deps.dailyStats.findOne({ serverId, day: DAY });
  await aggregateDay(deps, DAY);
  expect(await deps.dailyStats.findOne({ serverId, day: DAY })).toEqual(first);
  await insert(deps, [probe(serverId, `${DAY}T10:05:00Z`)]);
  await aggregateDay(deps, DAY);
  expect((await dayOfServer(deps, serverId, DAY))?.probes.onlineSeconds).toBe(600);
  expect(await deps.dailyStats.countDocuments()).toBe(1);
});

it('gives the same day when many compute it at once', async () => {
  const deps = await depsAt(AFTER_IT);
  const servers = [];
  for (let i = 0; i < 20; i++) servers.push(await listServer(deps, `Server ${i}`));
  await insert(
    deps,
    servers.flatMap((serverId) => probes(serverId, `${DAY}T00:00:00Z`, 288)),
  );
  await Promise.all(Array.from({ length: 8 }, () => aggregateDay(deps, DAY)));
  const found = await deps.dailyStats.find().toArray();
  expect(found).toHaveLength(20);
  expect(found.every(({ probes }) => probes.onlineSeconds === 86_400)).toBe(true);
});

it('computes only the servers that are named', async () => {
  const deps = await depsAt(AFTER_IT);
  const alpha = await listServer(deps, 'Alpha');
  const bravo = await listServer(deps, 'Bravo');
  await insert(deps, [probe(alpha, `${DAY}T10:00:00Z`), probe(bravo, `${DAY}T10:00:00Z`)]);
  expect(await aggregateDay(deps, DAY, { serverIds: [bravo] })).toEqual({ servers: 1 });
  expect(await dayOfServer(deps, alpha, DAY)).toBeNull();
  expect(await dayOfServer(deps, bravo, DAY)).not.toBeNull();
});

it('refuses a day that is not over, and one whose samples have expired', async () => {
  const deps = await depsAt('2028-03-01T23:59:59Z');
  await expect(aggregateDay(deps, '2028-03-01')).rejects.toMatchObject({ code: 'day-not-over' });
  await expect(aggregateDay(deps, '2028-03-02')).rejects.toMatchObject({ code: 'day-not-over' });
  await expect(aggregateDay(deps, '2028-01-26')).rejects.toMatchObject({ code: 'day-too-old' });
  await expect(aggregateDay(deps, '2028-01-26')).rejects.toMatchObject({ code: 'day-too-old' });
  expect(await aggregateDay(deps, '2028-01-27')).toEqual({ servers: 0 });
});

it('reports its progress, and stops between slices when it is aborted', async () => {
  const deps = await depsAt(AFTER_IT);
  await listServer(deps);
  const progress: [number, number][] = [];
  await aggregateDay(deps, DAY, { progress: (done, total) => progress.push([done, total]) });
  expect(progress).toEqual([
    [0, 1],
    [1, 1],
  ]);
  const signal = AbortSignal.abort(new Error('stopping'));
  await expect(aggregateDay(deps, DAY, { signal })).rejects.toThrow('stopping');
});
