import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { countFigures } from '../../src/workflows/figures/count-figures.ts';
import { figuresByDay } from '../../src/workflows/figures/read-figures.ts';
import { addDueJobs } from '../../workers/build-scheduler.ts';
import { NOTHING } from '../history/samples.ts';
import { castVote } from '../support/casting.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { movableClock } from '../support/start-app.ts';
import { testDeps } from '../support/test-deps.ts';
import { startWorker } from '../support/workers.ts';

const waiting = (age: number) => async () => ({
  votes: { under_1m: 2, over_24h: 1 },
  queues: { 'forward-votes': age, 'send-mail': 0 },
});

async function openFigures() {
  const clock = movableClock();
  const deps = { ...(await testDeps()), clock };
  // Noon, so that hours after now are the same day.
  clock.stop(after(startOfDay(addDays(dayOf(clock.now()), 1)), 12 * HOUR));
  return { deps, clock, today: dayOf(clock.now()) };
}

async function addAlpha(deps: AppDeps, port = 25_565): Promise<ObjectId> {
  const settings = { name: 'Alpha', address: 'play.example.org', port };
  return new ObjectId((await addServer(deps, settings, 'test')).serverId);
}

test('today and the days before are counted from what is stored', async () => {
  const { deps, today } = await openFigures();
  const yesterday = addDays(today, -1);
  const [serverId, removed] = [await addAlpha(deps), await addAlpha(deps, 25_566)];
  await deps.servers.updateOne({ _id: removed }, { $set: { listedAt: after(startOfDay(yesterday), HOUR) } });
  await castVote(deps, { serverId, username: 'Steve', tokenId: new ObjectId() });
  const probes = { ...NOTHING, onlineSeconds: 86_400, playerSeconds: 864_000 };
  await deps.dailyStats.insertOne({
    _id: new ObjectId(),
    serverId,
    day: yesterday,
    probes,
    reports: NOTHING,
  });
  const mail = { to: 'a@example.org', subject: 'x', attempts: 1, createdAt: deps.clock.now() };
  await deps.mails.insertMany([
    { _id: 'a', ...mail, sentAt: deps.clock.now() },
    { _id: 'b', ...mail, givenUpAt: deps.clock.now() },
    { _id: 'c', ...mail, nextAt: deps.clock.now() },
  ]);
  await deps.servers.updateOne({ _id: removed }, { $set: { removedAt: deps.clock.now() } });

  const days = await countFigures(deps, waiting(40));
  expect([days[0], days[1], days.length]).toEqual([today, yesterday, 36]);
  const [before, now] = (await figuresByDay(deps, 2)).map(({ figures }) => figures);
  expect(now).toMatchObject({
    servers: { listed: 1, added: 1, removed: 1 },
    deliveries: { api: 1, notForwarded: 1, delivered: 0 },
    mails: { sent: 1, givenUp: 1, waiting: 1 },
    waiting: { under_1m: 2, over_24h: 1 },
    queues: { 'forward-votes': 40, 'send-mail': 0 },
  });
  expect(now?.storage?.dataBytes).toBeGreaterThan(0);
  expect(now?.players).toBeUndefined();
  expect(before).toMatchObject({
    servers: { listed: 1, added: 1, removed: 0 },
    players: { average: 10, servers: 1 },
  });
  expect(before?.storage).toBeUndefined();
  // The records of mails of that day were deleted already.
  const old = await deps.siteFigures.findOne({ day: addDays(today, -20) });
  expect([old?.servers.listed, old?.mails]).toEqual([0, undefined]);
});

test('a second run counts only today, keeps the longest wait, and a finished day is counted for four days', async () => {
  const { deps, clock, today } = await openFigures();
  await countFigures(deps, waiting(40));
  clock.move(HOUR);
  expect(await countFigures(deps, waiting(7))).toEqual([today]);
  const stored = await deps.siteFigures.findOne({ day: today });
  expect(stored).toMatchObject({ queues: { 'forward-votes': 40 }, countedAt: clock.now() });

  const storage = stored?.storage;
  for (const ago of [1, 2, 3, 4]) {
    clock.move(DAY);
    const counted = await countFigures(deps, waiting(0));
    expect(counted).toContain(today);
    expect(counted).toHaveLength(1 + 4);
    expect(counted[ago]).toBe(today);
    expect(await countFigures(deps, waiting(0))).toHaveLength(1);
  }
  clock.move(DAY);
  expect(await countFigures(deps, waiting(0))).not.toContain(today);
  // What was measured while the day lasted stays.
  expect(await deps.siteFigures.findOne({ day: today })).toMatchObject({
    storage,
    queues: { 'forward-votes': 40 },
    waiting: { under_1m: 2 },
  });
});

test('a run that dies half-way leaves the day as it was; the next one counts it, and missed days', async () => {
  const { deps, clock, today } = await openFigures();
  const serverId = await addAlpha(deps);
  await countFigures(deps, waiting(0));
  await castVote(deps, { serverId, username: 'Steve', tokenId: new ObjectId() });
  clock.move(HOUR);
  const stop = new AbortController();
  const dying = countFigures(
    deps,
    async () => {
      stop.abort(new Error('killed'));
      return waiting(0)();
    },
    { signal: stop.signal },
  );
  await expect(dying).rejects.toThrow('killed');
  expect(await deps.siteFigures.findOne({ day: today })).toMatchObject({ deliveries: { api: 0 } });

  // The scheduler is down for three days.
  clock.move(3 * DAY);
  const counted = await countFigures(deps, waiting(0));
  expect(counted.slice(0, 4)).toEqual([0, 1, 2, 3].map((ago) => addDays(today, 3 - ago)));
  expect(await deps.siteFigures.findOne({ day: today })).toMatchObject({ deliveries: { api: 1 } });
});

test('two runs at once count one after the other, with one document a day', async () => {
  const { deps, today } = await openFigures();
  await addAlpha(deps);
  const runs = await Promise.all([countFigures(deps, waiting(3)), countFigures(deps, waiting(5))]);
  expect(runs.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([1, 36]);
  expect(await deps.siteFigures.find({ day: today }).toArray()).toMatchObject([
    { queues: { 'forward-votes': 5 } },
  ]);
});

test('the scheduler adds one job, and a worker counts with what waits now', async () => {
  const deps = await testDeps();
  await vi.waitUntil(() => deps.producerRedis.status === 'ready', EVENTUALLY);
  const serverId = await addAlpha(deps);
  await castVote(deps, { serverId, username: 'Steve', tokenId: new ObjectId() });
  for (let n = 0; n < 2; n += 1) expect(await addDueJobs(deps, 'count-figures')).toBe(true);
  expect(await deps.queues['count-figures'].getJobCountByTypes('waiting')).toBe(1);
  await startWorker(deps.config, { args: ['count-figures'] });
  const day = dayOf(deps.clock.now());
  await vi.waitUntil(() => deps.siteFigures.findOne({ day }), EVENTUALLY);
  const figures = await deps.siteFigures.findOne({ day });
  expect(figures?.queues).toHaveProperty('send-mail', 0);
  expect(figures?.waiting).toHaveProperty('under_1m', 0);
  expect(await deps.deliveryDays.findOne({ serverId, day })).toMatchObject({ api: 1 });
});
