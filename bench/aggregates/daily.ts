/**
 * Compares the aggregation of a day of many servers with one bare aggregation of the same sums, in turn, on its own
 * mongod: `node bench/aggregates/daily.ts [servers …]`, by default `2500 10000`. A day is 288 probes a server.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { bindCollections } from '../../src/database/collections.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { aggregateDay } from '../../src/history/aggregate-day.ts';
import { refreshDailyFigures } from '../../src/history/daily-figures.ts';
import { PROBE_SUMS } from '../../src/history/sum-samples.ts';
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { MONGOD } from '../../src/own-services/mongod.ts';
import { startService } from '../../src/own-services/service-process.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { createLogger } from '../../src/platform/log.ts';
import { type Mongo, openMongo } from '../../src/platform/mongo.ts';
import { startOfDay } from '../../src/platform/periods/period-marks.ts';
import { addSamples, listPlain, ROUNDS } from './fill-samples.ts';

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [2_500, 10_000];

/** A day long after today, so that the samples are not older than their retention time. */
const TODAY = '2028-03-01';
const YESTERDAY = '2028-02-29';
async function bare(db: Db): Promise<void> {
  await db
    .collection('status_samples')
    .aggregate([
      { $match: { at: { $gte: startOfDay(YESTERDAY), $lt: startOfDay(TODAY) } } },
      { $group: { _id: '$serverId', ...PROBE_SUMS } },
      { $merge: { into: 'bare_stats', whenMatched: 'replace' } },
    ])
    .toArray();
}

/** The number of servers for which our result differs from that of the bare aggregation. It must be 0. */
async function differences(db: Db): Promise<number> {
  let differing = 0;
  for await (const { serverId, probes } of db.collection('daily_stats').find({ day: YESTERDAY })) {
    const { _id, ...sums } = (await db.collection('bare_stats').findOne({ _id: serverId })) ?? {};
    if (Object.entries(sums).some(([name, sum]) => probes[name] !== sum)) differing += 1;
  }
  return differing;
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

async function compare(mongo: Mongo, count: number): Promise<void> {
  const { db } = mongo;
  await migrateDatabase(mongo);
  const ids = await listPlain(mongo, count, startOfDay(YESTERDAY));
  const filling = await seconds(() => addSamples(mongo, ids, YESTERDAY));
  console.log(`${count} servers, ${count * ROUNDS} samples (${filling.toFixed(1)} s to insert)`);
  const deps = {
    ...bindCollections(mongo),
    clock: { now: () => after(startOfDay(TODAY), 10 * MINUTE) },
  };
  const ours = () => aggregateDay(deps, YESTERDAY);
  for (const turn of ['first', 'again', 'once more']) {
    // The order changes with each turn, because the first of the two reads with a colder cache.
    const native = turn === 'again' ? await seconds(() => bare(db)) : undefined;
    const own = await seconds(ours);
    const peer = native ?? (await seconds(() => bare(db)));
    const ratio = (own / peer).toFixed(2);
    console.log(`  ${turn}: ours ${own.toFixed(2)} s, bare ${peer.toFixed(2)} s, ratio ${ratio}`);
  }
  const figures = await seconds(() => refreshDailyFigures(deps));
  console.log(`  figures: ${figures.toFixed(2)} s; servers that differ: ${await differences(db)}`);
}

const dir = await mkdtemp(join(tmpdir(), 'tallyport-bench-'));
const mongod = await startService(MONGOD, { binary: await findMongod(ownEnvironment(), console.log), dir });
const log = createLogger({ LOG_LEVEL: 'error' }, 'bench');
try {
  for (const count of sizes) {
    const mongo = await openMongo(`${MONGOD.address(mongod.port)}/bench_${count}`, log, { operationMs: 0 });
    await compare(mongo, count).finally(() => mongo.close());
  }
} finally {
  await mongod.stop();
  await rm(dir, { recursive: true, force: true });
}
