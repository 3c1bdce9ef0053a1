/**
 * Inserts days of samples of many servers, and measures their size on disk and the time of the daily work:
 *
 *   node bench/aggregates/many-days.ts [servers] [days of samples]
 *
 * Samples are inserted as probes insert them. The daily stats of the 30 days before are added for every server. Prints
 * the sizes of the collections and indexes, the times of the daily work of the last day and of a ranking, and the
 * memory of mongod, whose cache has 0.5 GB.
 */
import type { Document, ObjectId } from 'mongodb';
import { bindCollections } from '../../src/database/collections.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { aggregateDay } from '../../src/history/aggregate-day.ts';
import { refreshDailyFigures } from '../../src/history/daily-figures.ts';
import { emptySums } from '../../src/history/daily-stats.ts';
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { createLogger } from '../../src/platform/log.ts';
import { type Mongo, openMongo } from '../../src/platform/mongo.ts';
import { addDays, startOfDay } from '../../src/platform/periods/period-marks.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { startMongod } from '../../test/support/services.ts';
import { cpuSeconds, residentMb } from '../delivery/environment.ts';
import { addSamples, listPlain, ROUNDS } from './fill-samples.ts';

const [count = 100_000, days = 1] = process.argv.slice(2).map(Number);

/** A day long after today, so that the samples are not older than their retention time. */
const TODAY = '2028-03-01';
const DAYS_OF_STATS = 30;
const BATCH = 500;

const mongod = await startMongod({ binary: await findMongod(ownEnvironment(), console.log), onDisk: true });
const log = createLogger({ LOG_LEVEL: 'silent' }, 'bench');
const mongo = await openMongo(`${mongod.uri}/bench`, log, { operationMs: 0 });
await migrateDatabase(mongo);
const collections = bindCollections(mongo);

/** Prints the time of some work and mongod's processor time. */
async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const [began, cpu] = [performance.now(), await cpuSeconds(mongod.pid())];
  await work();
  const seconds = (performance.now() - began) / 1_000;
  const used = (await cpuSeconds(mongod.pid())) - cpu;
  console.log(`${name}: ${seconds.toFixed(1)} s (mongod ${used.toFixed(1)} s)`);
}

async function addStats(ids: ObjectId[]): Promise<void> {
  const { dailyStats } = collections;
  const before = Array.from({ length: DAYS_OF_STATS }, (_, ago) => addDays(TODAY, -ago - 2));
  for (let from = 0; from < ids.length; from += BATCH) {
    const stats = ids.slice(from, from + BATCH).flatMap((serverId, i) =>
      before.map((day, ago): Document => {
        const players = 5 + ((from + i + ago) % 100);
        const probes = {
          ...emptySums(),
          onlineSeconds: 86_000,
          offlineSeconds: 400,
          peakPlayers: 2 * players,
        };
        const sums = { playerSeconds: 86_000 * players, latencySum: 86_000 * 40, latencySeconds: 86_000 };
        return { serverId, day, probes: { ...probes, ...sums }, reports: emptySums() };
      }),
    );
    await dailyStats.insertMany(stats as never, { ordered: false });
  }
}

async function sizes({ db }: Mongo): Promise<void> {
  // After a checkpoint, the files have their final sizes.
  await db.admin().command({ fsync: 1 });
  for (const name of ['status_samples', 'daily_stats', 'servers']) {
    const stats = await db.command({ collStats: name });
    const {
      bucketCount,
      avgBucketSize,
      numBucketsClosedDueToMemoryThreshold: closed,
    } = stats.timeseries ?? {};
    const buckets = bucketCount
      ? `; ${bucketCount} buckets of ${avgBucketSize} bytes, ${closed} closed early for want of memory`
      : '';
    const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    console.log(`${name}: ${mb(stats.storageSize)} on disk, indexes ${mb(stats.totalIndexSize)}${buckets}`);
  }
}

const yesterday = addDays(TODAY, -1);
const ids = await listPlain(mongo, count, startOfDay(addDays(TODAY, -40)));
console.log(`${count} servers, ${days} days of ${ROUNDS} samples: ${count * days * ROUNDS} samples`);
for (let ago = days; ago > 0; ago -= 1)
  await timed(`samples of a day, ${ago} before`, () => addSamples(mongo, ids, addDays(TODAY, -ago)));
await timed(`daily stats of ${DAYS_OF_STATS} days`, () => addStats(ids));
await sizes(mongo);
const deps = {
  ...collections,
  log,
  config: {
    LEASE_MS: 30_000,
    SECRET_KEY: 'a key of the benchmark only, 32 characters',
    PAUSED_SERVERS: 'last' as const,
  },
  clock: { now: () => after(startOfDay(TODAY), 10 * MINUTE) },
};
await timed('daily stats of the last day', () => aggregateDay(deps, yesterday));
await timed('figures of all servers', () => refreshDailyFigures(deps));
await timed('ranks, all of them new', () => recomputeRanks(deps));
await timed('ranks, a second time', () => recomputeRanks(deps));
console.log(`mongod: ${(await residentMb(mongod.pid())).toFixed(0)} MB`);

await mongo.db.dropDatabase();
await mongo.close();
await mongod.stop();
