import type { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { type DailySums, emptySums } from '../../src/history/daily-stats.ts';
import { aggregateTouchedDays } from '../../src/import-export/import.ts';
import { sampleImporter } from '../../src/import-export/import-samples.ts';
import { DAY, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { importText, lines, listedServer } from './importing.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const TODAY = dayOf(NOW);
const OLD_DAY = addDays(TODAY, -35);
const YOUNG_DAY = addDays(TODAY, -34);

let clock: StoppedClock;
let deps: AppDeps;
let serverId: ObjectId;
let aggregated: { serverId: ObjectId; days: string[] }[];

beforeEach(async () => {
  // What is older than mongod's own idea of 35 days would vanish from the time series at once.
  clock = stoppedClock(NOW);
  deps = { ...(await testDeps()), clock };
  await deps.mongo.db.command({ collMod: 'status_samples', expireAfterSeconds: 'off' });
  serverId = await listedServer(deps);
  aggregated = [];
});

/** A line for a sample taken `minute` minutes after the beginning of `day`. */
const sample = (day: string, minute: number, changes: object = {}) => ({
  server_id: serverId.toHexString(),
  at: new Date(startOfDay(day).getTime() + minute * MINUTE).toISOString(),
  online: true,
  online_players: 10,
  max_players: 100,
  latency_ms: 20,
  ...changes,
});

function importSamples(text: string, options?: { skipBad?: boolean; dryRun?: boolean }) {
  const aggregate = async (touched: typeof aggregated) => {
    aggregated.push(...touched);
  };
  return importText(() => sampleImporter(deps, { aggregate, throwIfLost: () => undefined }), text, options);
}

async function probesOf(day: string): Promise<DailySums | undefined> {
  return (await deps.dailyStats.findOne({ serverId, day }))?.probes;
}

const samplesThere = () => deps.statusSamples.find({ serverId }).sort({ at: 1 }).toArray();

/** 288 samples of a day, in which players come and go. */
const wholeDay = (day: string) =>
  Array.from({ length: 288 }, (_, index) =>
    sample(day, index * 5, { online_players: index % 50, online: index % 12 !== 0 }),
  );

describe('imported samples of the last 34 days', () => {
  it('stand in the time series as probes of 300 seconds, and their days are computed', async () => {
    const end = await importSamples(
      lines(
        sample(YOUNG_DAY, 0),
        sample(TODAY, 5, { online: false, online_players: 0, latency_ms: null, seconds: 60 }),
      ),
    );

    expect(end).toEqual({ lines: 2, imported: 2, alreadyThere: 0, refused: 0, refusedLines: [] });
    expect(await samplesThere()).toEqual([
      expect.objectContaining({
        source: 'probe',
        seconds: 300,
        status: 'online',
        onlinePlayers: 10,
        maxPlayers: 100,
        latencyMs: 20,
      }),
      expect.objectContaining({ seconds: 60, status: 'offline', onlinePlayers: 0, latencyMs: null }),
    ]);
    expect(aggregated).toEqual([{ serverId, days: [YOUNG_DAY, TODAY] }]);
  });

  it('of a server that hid its players have no number', async () => {
    const hidden = sample(TODAY, 1, { online_players: null, players_hidden: true });
    expect(await importSamples(lines(hidden))).toMatchObject({ imported: 1 });
    expect(await samplesThere()).toMatchObject([{ status: 'online', onlinePlayers: null }]);
  });

  it('are there once, however often, and their days are computed again', async () => {
    const text = lines(...wholeDay(YOUNG_DAY));
    await importSamples(text);
    const again = await importSamples(lines(...wholeDay(YOUNG_DAY).slice(100), sample(YOUNG_DAY, 2)));

    expect(again).toMatchObject({ imported: 1, alreadyThere: 188 });
    expect(await samplesThere()).toHaveLength(289);
    expect(aggregated).toHaveLength(2);
  });

  it('are there once when the same line comes twice in a file', async () => {
    const text = lines(
      sample(TODAY, 1),
      sample(TODAY, 1),
      ...Array.from({ length: 1_200 }, () => sample(TODAY, 1)),
    );
    expect(await importSamples(text)).toMatchObject({ imported: 1, alreadyThere: 1_201 });
    expect(await samplesThere()).toHaveLength(1);
  });

  it('keep a report and a probe of the same moment apart, and say why a check did not count', async () => {
    await importSamples(
      lines(
        sample(TODAY, 1),
        sample(TODAY, 1, { source: 'report' }),
        sample(TODAY, 6, { online: null, reason: 'canary' }),
      ),
    );
    expect(
      (await samplesThere()).map(({ source, seconds, status, reason }) => [source, seconds, status, reason]),
    ).toEqual(
      expect.arrayContaining([
        ['probe', 300, 'online', undefined],
        ['report', 0, 'online', undefined],
        ['probe', 300, 'unknown', 'canary'],
      ]),
    );
  });
});

it('an import over midnight computes every day that still can be; run again, it adds the oldest', async () => {
  const next = addDays(YOUNG_DAY, 1);
  const text = lines(sample(YOUNG_DAY, 0), sample(next, 0), sample(TODAY, 0));
  await importSamples(text);
  clock.set(startOfDay(addDays(TODAY, 1)));
  await aggregateTouchedDays(deps, aggregated);

  expect(await probesOf(YOUNG_DAY)).toBeUndefined();
  for (const day of [next, TODAY]) expect(await probesOf(day)).toMatchObject({ onlineSeconds: 300 });
  expect((await deps.servers.findOne({ _id: serverId }))?.daily.uptimePercentage).toBe(100);
  expect(await importSamples(text)).toMatchObject({ imported: 1, alreadyThere: 2 });
  expect(await probesOf(YOUNG_DAY)).toMatchObject({ onlineSeconds: 300 });
});

describe('imported samples of older days', () => {
  it('are summed up in the statistics of their day', async () => {
    await importSamples(
      lines(
        sample(OLD_DAY, 0),
        sample(OLD_DAY, 5, { online_players: 30, latency_ms: null }),
        sample(OLD_DAY, 10, { online: false }),
        sample(OLD_DAY, 15, { online: null, reason: 'unconfirmed', seconds: 30 }),
        sample(OLD_DAY, 20, { online: null, reason: 'canary', seconds: 40 }),
      ),
    );
    expect(await probesOf(OLD_DAY)).toEqual({
      onlineSeconds: 600,
      offlineSeconds: 300,
      unconfirmedSeconds: 30,
      canarySeconds: 40,
      playerSeconds: 40 * 300,
      latencySum: 20 * 300,
      latencySeconds: 300,
      peakPlayers: 30,
    });
    expect(await samplesThere()).toEqual([]);
    expect(aggregated).toEqual([]);
  });

  it('are there once, however often, from however many files and in whatever order', async () => {
    const day = wholeDay(OLD_DAY);
    await importSamples(lines(...day));
    const whole = await probesOf(OLD_DAY);
    const other = await listedServer(deps, 'Other');
    const moved = day.map((line) => ({ ...line, server_id: other.toHexString() }));
    await importSamples(lines(...moved.slice(100, 200).toReversed()));
    await importSamples(lines(...moved.slice(0, 150), ...moved.slice(50, 120)));
    const last = await importSamples(lines(...moved));
    await importSamples(lines(...moved));

    expect(last).toMatchObject({ imported: 88, alreadyThere: 200 });
    expect((await deps.dailyStats.findOne({ serverId: other, day: OLD_DAY }))?.probes).toEqual(whole);
    expect(await probesOf(OLD_DAY)).toEqual(whole);
  });

  it('are neither lost nor doubled when imports race', async () => {
    const day = wholeDay(OLD_DAY);
    await importSamples(lines(day[0]));
    const parts = [0, 1, 2, 3].map((part) => day.filter((_, index) => index % 4 === part || index % 7 === 0));
    await Promise.all(parts.map((part) => importSamples(lines(...part))));

    const { onlineSeconds, offlineSeconds } = (await probesOf(OLD_DAY)) ?? emptySums();
    expect([onlineSeconds, offlineSeconds]).toEqual([300 * 264, 300 * 24]);
  });

  it('are each reported by the import that added them, also if another import changes one of its days', async () => {
    // Each import has a day of its own, and all have samples of the same other day.
    const files = [1, 2, 3, 4].map((n) => [sample(addDays(OLD_DAY, -n), 0), sample(OLD_DAY, 5 * n)]);
    const ends = await Promise.all(files.map((file) => importSamples(lines(...file))));
    expect(ends.map(({ imported }) => imported)).toEqual([2, 2, 2, 2]);
    expect(await probesOf(OLD_DAY)).toMatchObject({ onlineSeconds: 4 * 300 });
  });

  it('change nothing on a day that was computed from samples while they were there', async () => {
    const probes = { ...emptySums(), onlineSeconds: 86_400, playerSeconds: 86_400 };
    const computed = { serverId, day: OLD_DAY, probes, reports: emptySums() };
    await deps.dailyStats.insertOne(computed as never);
    const end = await importSamples(lines(sample(OLD_DAY, 1)));

    expect(end).toMatchObject({ imported: 0, alreadyThere: 1 });
    expect(await probesOf(OLD_DAY)).toEqual(probes);
  });

  it('are added to a day of which only reports are known', async () => {
    const reports = { ...emptySums(), onlineSeconds: 900 };
    await deps.dailyStats.insertOne({ serverId, day: OLD_DAY, probes: emptySums(), reports } as never);
    await importSamples(lines(sample(OLD_DAY, 1)));

    expect(await deps.dailyStats.findOne({ serverId, day: OLD_DAY })).toMatchObject({
      reports,
      probes: { onlineSeconds: 300 },
    });
  });
});

describe('lines of samples that are refused', () => {
  it('are told with their numbers and reasons, and nothing is imported', async () => {
    const bad: [object, string][] = [
      [{ at: new Date(NOW.getTime() + SECOND).toISOString() }, 'at must not be in the future'],
      [{ at: '1970-01-01T00:00:00Z' }, 'at must not be before the year 2000'],
      [{ server_id: 'f'.repeat(24) }, `no server is listed with the id ${'f'.repeat(24)}`],
      [{ online: 'yes' }, 'online must be true, false or null'],
      [{ online_players: null }, 'online_players must be a whole number'],
      [{ online_players: 1.5 }, 'online_players must be a whole number'],
      [{ max_players: -2 }, 'max_players must be a whole number'],
      [{ latency_ms: -1 }, 'latency_ms must be a number of milliseconds'],
      [{ seconds: 86_401 }, 'seconds must be a whole number'],
      [{ online: null }, 'reason must be'],
      [{ reason: 'canary' }, 'reason must be'],
      [
        { at: new Date(NOW.getTime() - 40 * DAY).toISOString(), source: 'report' },
        'a report that is over 34 days old cannot be taken',
      ],
    ];
    const end = await importSamples(
      lines(sample(TODAY, 0), ...bad.map(([change]) => sample(TODAY, 1, change))),
    );

    expect(end.refusedLines).toEqual(
      bad.map(([, reason], index) => ({ line: index + 2, reason: expect.stringContaining(reason) })),
    );
    expect(await samplesThere()).toEqual([]);
    expect(await deps.dailyStats.countDocuments()).toBe(0);
  });

  it('a removed server takes no more of them', async () => {
    await deps.servers.updateOne({ _id: serverId }, { $set: { removedAt: NOW } });
    expect((await importSamples(lines(sample(TODAY, 0)))).refused).toBe(1);
  });
});
